// 2-layer CAS-LSTM on SST-2: thesis table 4.9; CAS-LSTM table 4. Published: 91.1 %.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.sentiment(
  data.sst2(min_phrase_length=1),
  hidden_size=300,
  bidirectional=false,
  dropout=0.5,
  l2_norm=0.010,
)
