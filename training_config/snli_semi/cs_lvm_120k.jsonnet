// CS-LVM on SNLI, 120k labeled: thesis tables 6.1, 6.3. Published: 76.9 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(120000)
