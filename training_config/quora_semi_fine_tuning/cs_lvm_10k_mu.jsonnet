// CS-LVM + R^mu on Quora, 10k labeled: thesis table 6.2. Published: 74.9 %.
// The environment variable CS_LVM_ARCHIVE names the archive of ../quora_semi/cs_lvm_10k.jsonnet.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora_fine_tuning(10000, ['mu'])
