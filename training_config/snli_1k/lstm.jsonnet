// The classifier of CS-LVM alone on 1k labeled pairs of SNLI's development set.
// The dropout is the best of 0.25, 0.5 and 0.75 on the validation data, over three seeds.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_1k + cs_lvm.supervised {
  model+: { embedding_dropout: 0.25 },
  // An epoch is 63 steps here; with the unlabeled pairs it is 139.
  trainer+: { num_epochs: 60, optimizer+: { lr: 0.001 } },
}
