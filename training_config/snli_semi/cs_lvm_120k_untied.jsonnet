// CS-LVM with untied encoders on SNLI, 120k labeled: thesis table 6.3. Published: 74.7 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(120000) + cs_lvm.untied
