// 3-layer BiLSTM (AllenNLP's own) on SICK, from scratch: the baseline.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.sick(), { type: 'lstm', num_layers: 3, bidirectional: true })
