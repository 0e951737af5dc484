// LSTM-vMF-VAE on SNLI's development set, 1k labeled.
// The weight of the classifier's loss is the best of 1 and 20 on the validation data.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_1k + cs_lvm.auto_encoder { model+: { classification_weight: 20.0 } }
