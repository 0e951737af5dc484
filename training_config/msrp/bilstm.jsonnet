// BiLSTM (AllenNLP's own) on MSRP, from scratch: the baseline.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.msrp(), { type: 'lstm', num_layers: 1, bidirectional: true })
