// 2-layer Bi-CAS-LSTM on SST-2: thesis table 4.9; CAS-LSTM table 4. Published: 91.3 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.sentiment(
  data.sst2(min_phrase_length=1),
  hidden_size=150,
  bidirectional=true,
  dropout=0.5,
  l2_norm=0.005,
)
