// CS-LVM on Quora, 1k labeled: thesis table 6.2. Published: 66.5 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(1000)
