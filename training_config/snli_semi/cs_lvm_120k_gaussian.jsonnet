// CS-LVM with a Gaussian on SNLI, 120k labeled: thesis table 6.3. Published: 74.9 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(120000) + cs_lvm.gaussian
