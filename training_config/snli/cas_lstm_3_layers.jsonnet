// 3-layer CAS-LSTM on SNLI: thesis table 4.3; CAS-LSTM table 1. Published: 86.4 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.siamese(
  data.snli(),
  max_length=35,
  num_layers=3,
  bidirectional=false,
  mlp_layers=2,
  word_dropout=0.15,
  classifier_dropout=0.20,
  l2_norm=0.002,
)
