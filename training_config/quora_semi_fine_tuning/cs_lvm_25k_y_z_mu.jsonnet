// CS-LVM + R^y, R^z, R^mu on Quora, 25k labeled: thesis table 6.2. Published: 77.6 %.
// First train ../quora_semi/cs_lvm_25k.jsonnet into out/quora_semi/cs_lvm_25k.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(25000) +
cs_lvm.fine_tuning('out/quora_semi/cs_lvm_25k/model.tar.gz', ['y', 'z', 'mu'])
