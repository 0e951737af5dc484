// CS-LVM + R^y, R^z, R^mu on SNLI, 59k labeled: thesis table 6.1. Published: 74.1 %.
// The environment variable CS_LVM_ARCHIVE names the archive of ../snli_semi/cs_lvm_59k.jsonnet.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(59000) + cs_lvm.fine_tuning(['y', 'z', 'mu'])
