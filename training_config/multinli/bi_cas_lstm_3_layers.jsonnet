// 3-layer Bi-CAS-LSTM on MultiNLI: thesis tables 4.2 and 4.4. Published: 74.2 % in, 73.4 % cross.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.siamese(
  data.multinli(max_length=55),
  num_layers=3,
  bidirectional=true,
  mlp_layers=2,
  p_w=0.15,
  p_c=0.20,
  l2=0.0020,
)
