// Bi-CAS-LSTM on Quora: thesis table 4.6; CAS-LSTM table 3. Published: 88.6 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.siamese(
  data.quora(),
  max_length=25,
  num_layers=2,
  bidirectional=true,
  mlp_layers=1,
  word_dropout=0.15,
  classifier_dropout=0.20,
  l2_norm=0.002,
  matcher='symmetric',
)
