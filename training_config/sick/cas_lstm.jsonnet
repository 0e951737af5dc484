// 2-layer Bi-CAS-LSTM on SICK, from scratch.
local sick = import '../lib/sick.libsonnet';

sick.siamese(sick.pooled({
  type: 'cas_lstm',
  input_size: sick.size,
  hidden_size: sick.size,
  bidirectional: true,
}))
