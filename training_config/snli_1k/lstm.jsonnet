// The classifier of CS-LVM alone on 1k labeled pairs of SNLI's development set.
// The best of three rates of dropout and two learning rates on the validation data.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_1k + cs_lvm.supervised {
  model+: { embedding_dropout: 0.75 },
  // An epoch is 63 steps here; with the unlabeled pairs it is 139.
  trainer+: { num_epochs: 60, optimizer+: { lr: 0.001 } },
}
