// CS-LVM with untied encoders on SNLI, 28k labeled: thesis table 6.3. Published: 63.3 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(28000) + cs_lvm.untied
