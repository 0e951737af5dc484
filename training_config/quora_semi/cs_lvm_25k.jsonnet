// CS-LVM on Quora, 25k labeled: thesis table 6.2. Published: 76.9 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(25000)
