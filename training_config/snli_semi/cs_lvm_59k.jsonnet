// CS-LVM on SNLI, 59k labeled: thesis tables 6.1, 6.3. Published: 73.5 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(59000)
