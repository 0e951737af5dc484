// CS-LVM + R^z on SNLI, 120k labeled: thesis table 6.1. Published: 77.6 %.
// First train ../snli_semi/cs_lvm_120k.jsonnet into out/snli_semi/cs_lvm_120k.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(120000) +
cs_lvm.fine_tuning('out/snli_semi/cs_lvm_120k/model.tar.gz', ['z'])
