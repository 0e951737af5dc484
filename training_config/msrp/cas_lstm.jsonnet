// 2-layer Bi-CAS-LSTM on MSRP, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.msrp(), { type: 'cas_lstm', num_layers: 2, bidirectional: true })
