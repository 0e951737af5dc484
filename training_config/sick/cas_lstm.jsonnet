// 2-layer Bi-CAS-LSTM on SICK, from scratch.
local sick = import '../lib/sick.libsonnet';

sick.siamese(sick.pooled({ type: 'cas_lstm', num_layers: 2, bidirectional: true }))
