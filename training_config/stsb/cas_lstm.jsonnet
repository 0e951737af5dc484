// 2-layer Bi-CAS-LSTM on STS Benchmark, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';
local tasks = import '../lib/tasks.libsonnet';

from_scratch.siamese(
  data.stsb(),
  { type: 'cas_lstm', num_layers: 2, bidirectional: true },
  tasks.scores(0, 5),
)
