// CS-LVM with sampled labels on SNLI, 59k labeled: thesis table 6.3. Published: 72.9 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(59000) + cs_lvm.sampling
