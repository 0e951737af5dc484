// CS-LVM + R^y on SNLI, 28k labeled: thesis table 6.1. Published: 70.0 %.
// The environment variable CS_LVM_ARCHIVE names the archive of ../snli_semi/cs_lvm_28k.jsonnet.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(28000) + cs_lvm.fine_tuning(['y'])
