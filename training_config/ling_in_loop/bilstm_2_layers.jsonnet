// 2-layer BiLSTM (AllenNLP's own) on the ling_in_loop pairs, from scratch: the baseline.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.ling_in_loop(), { type: 'lstm', num_layers: 2, bidirectional: true })
