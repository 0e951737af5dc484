// CAS-LSTM on Quora: thesis table 4.6; CAS-LSTM table 3. Published: 88.4 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.siamese(
  data.quora(),
  max_length=25,
  num_layers=2,
  bidirectional=false,
  mlp_layers=1,
  word_dropout=0.10,
  classifier_dropout=0.10,
  l2_norm=0.002,
  matcher='symmetric',
)
