// CS-LVM + R^mu on Quora, 1k labeled: thesis table 6.2. Published: 66.4 %.
// First train ../quora_semi/cs_lvm_1k.jsonnet into out/quora_semi/cs_lvm_1k.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(1000) +
cs_lvm.fine_tuning('out/quora_semi/cs_lvm_1k/model.tar.gz', ['mu'])
