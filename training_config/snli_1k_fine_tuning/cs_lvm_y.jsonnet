// CS-LVM + R^y on SNLI's development set, 1k labeled.
// First train ../snli_1k/cs_lvm.jsonnet with seed 1 into out/snli_1k/cs_lvm/1, as scripts/run_seeds.py
// does; the same seed labels the same pairs.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_1k +
cs_lvm.fine_tuning('out/snli_1k/cs_lvm/1/model.tar.gz', ['y']) {
  random_seed: 1,
  numpy_seed: 1,
  pytorch_seed: 1,
  trainer+: { num_epochs: 5 },
}
