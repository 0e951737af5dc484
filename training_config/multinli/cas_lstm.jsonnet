// 2-layer CAS-LSTM on MultiNLI: thesis table 4.4; CAS-LSTM table 2. Published: 74.0 / 73.3 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

function(validation='matched') cas_lstm.siamese(
  data.multinli(validation),
  max_length=55,
  num_layers=2,
  bidirectional=false,
  mlp_layers=1,
  word_dropout=0.10,
  classifier_dropout=0.10,
  l2_norm=0.0025,
)
