// 2-layer Bi-CAS-LSTM on SST-5: thesis table 4.9; CAS-LSTM table 4. Published: 53.6 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.sentiment(
  data.sst5(min_phrase_length=1),
  hidden_size=300,
  bidirectional=true,
  dropout=0.5,
  l2_norm=0.005,
)
