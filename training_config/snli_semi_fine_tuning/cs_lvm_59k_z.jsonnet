// CS-LVM + R^z on SNLI, 59k labeled: thesis table 6.1. Published: 73.9 %.
// First train ../snli_semi/cs_lvm_59k.jsonnet into out/snli_semi/cs_lvm_59k.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(59000) +
cs_lvm.fine_tuning('out/snli_semi/cs_lvm_59k/model.tar.gz', ['z'])
