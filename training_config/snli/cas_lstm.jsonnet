// 2-layer CAS-LSTM on SNLI: thesis table 4.3; CAS-LSTM table 1. Published: 86.4 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.siamese(
  data.snli(),
  max_length=35,
  num_layers=2,
  bidirectional=false,
  mlp_layers=1,
  word_dropout=0.10,
  classifier_dropout=0.10,
  l2_norm=0.002,
)
