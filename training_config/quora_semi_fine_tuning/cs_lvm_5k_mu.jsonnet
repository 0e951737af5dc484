// CS-LVM + R^mu on Quora, 5k labeled: thesis table 6.2. Published: 71.2 %.
// The environment variable CS_LVM_ARCHIVE names the archive of ../quora_semi/cs_lvm_5k.jsonnet.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora_fine_tuning(5000, ['mu'])
