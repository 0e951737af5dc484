// 2-layer Bi-CAS-LSTM on MultiNLI: thesis table 4.4; CAS-LSTM table 2. Published: 74.6 / 73.7 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

function(validation='matched') cas_lstm.siamese(
  data.multinli(validation),
  max_length=55,
  num_layers=2,
  bidirectional=true,
  mlp_layers=2,
  word_dropout=0.15,
  classifier_dropout=0.20,
  l2_norm=0.0020,
)
