// CS-LVM + R^y on Quora, 10k labeled: thesis table 6.2. Published: 74.5 %.
// First train ../quora_semi/cs_lvm_10k.jsonnet into out/quora_semi/cs_lvm_10k.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(10000) +
cs_lvm.fine_tuning('out/quora_semi/cs_lvm_10k/model.tar.gz', ['y'])
