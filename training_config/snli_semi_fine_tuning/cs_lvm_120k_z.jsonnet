// CS-LVM + R^z on SNLI, 120k labeled: thesis table 6.1. Published: 77.6 %.
// The environment variable CS_LVM_ARCHIVE names the archive of ../snli_semi/cs_lvm_120k.jsonnet.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(120000) + cs_lvm.fine_tuning(['z'])
