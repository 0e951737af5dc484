// CS-LVM + R^z on Quora, 5k labeled: thesis table 6.2. Published: 71.3 %.
// First train ../quora_semi/cs_lvm_5k.jsonnet into out/quora_semi/cs_lvm_5k.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(5000) +
cs_lvm.fine_tuning('out/quora_semi/cs_lvm_5k/model.tar.gz', ['z'])
