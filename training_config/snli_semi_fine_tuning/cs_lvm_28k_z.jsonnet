// CS-LVM + R^z on SNLI, 28k labeled: thesis table 6.1. Published: 69.2 %.
// First train ../snli_semi/cs_lvm_28k.jsonnet into out/snli_semi/cs_lvm_28k.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(28000) +
cs_lvm.fine_tuning('out/snli_semi/cs_lvm_28k/model.tar.gz', ['z'])
