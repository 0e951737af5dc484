// CS-LVM + R^y on SNLI's development set, 1k labeled.
// The environment variable CS_LVM_ARCHIVE names the archive of ../snli_1k/cs_lvm.jsonnet, trained
// with seed 1 by scripts/results/run_seeds.py: the same seed labels the same pairs.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_1k + cs_lvm.fine_tuning(['y']) {
  random_seed: 1,
  numpy_seed: 1,
  pytorch_seed: 1,
  trainer+: { num_epochs: 5 },
}
