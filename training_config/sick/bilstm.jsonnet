// BiLSTM (AllenNLP's own) on SICK, from scratch: the baseline.
local sick = import '../lib/sick.libsonnet';

sick.siamese(sick.pooled({ type: 'lstm', num_layers: 1, bidirectional: true }))
