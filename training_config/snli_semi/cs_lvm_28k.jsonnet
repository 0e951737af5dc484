// CS-LVM on SNLI, 28k labeled: thesis tables 6.1, 6.3. Published: 68.4 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(28000)
