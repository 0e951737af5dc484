// CS-LVM on Quora, 5k labeled: thesis table 6.2. Published: 71.1 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(5000)
