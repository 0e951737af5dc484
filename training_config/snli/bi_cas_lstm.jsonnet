// 2-layer Bi-CAS-LSTM on SNLI: thesis table 4.3; CAS-LSTM table 1. Published: 86.8 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.siamese(
  data.snli(),
  max_length=35,
  num_layers=2,
  bidirectional=true,
  mlp_layers=2,
  word_dropout=0.15,
  classifier_dropout=0.15,
  l2_norm=0.002,
)
