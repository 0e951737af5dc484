// 2-layer Bi-CAS-LSTM on the relatedness of SICK, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';
local tasks = import '../lib/tasks.libsonnet';

from_scratch.siamese(
  data.sick(),
  { type: 'cas_lstm', num_layers: 2, bidirectional: true },
  tasks.scores(1, 5),
)
