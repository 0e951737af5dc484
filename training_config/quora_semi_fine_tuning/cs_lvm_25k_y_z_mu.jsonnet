// CS-LVM + R^y, R^z, R^mu on Quora, 25k labeled: thesis table 6.2. Published: 77.6 %.
// The environment variable CS_LVM_ARCHIVE names the archive of ../quora_semi/cs_lvm_25k.jsonnet.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora_fine_tuning(25000, ['y', 'z', 'mu'])
