// 3-layer CAS-LSTM on MultiNLI: thesis tables 4.2 and 4.4. Published: 73.8 % in, 73.1 % cross.
local cas_lstm = import '../lib/cas_lstm.libsonnet';
local data = import '../lib/data.libsonnet';

cas_lstm.siamese(
  data.multinli(max_length=55),
  num_layers=3,
  bidirectional=false,
  mlp_layers=2,
  p_w=0.10,
  p_c=0.15,
  l2=0.0025,
)
