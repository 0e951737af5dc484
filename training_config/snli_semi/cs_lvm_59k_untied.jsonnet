// CS-LVM with untied encoders on SNLI, 59k labeled: thesis table 6.3. Published: 69.1 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(59000) + cs_lvm.untied
