// SuBiLSTM on SICK, from scratch.
local sick = import '../lib/sick.libsonnet';

sick.siamese(sick.pooled({ type: 'subilstm' }))
