// 3-layer BiLSTM (AllenNLP's own) on SICK, from scratch: the baseline.
local sick = import '../lib/sick.libsonnet';

sick.siamese(sick.pooled({ type: 'lstm', num_layers: 3, bidirectional: true }))
