// CS-LVM on Quora, 10k labeled: thesis table 6.2. Published: 74.6 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(10000)
