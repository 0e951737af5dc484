// 2-layer Bi-CAS-LSTM on 54,825 pairs: the sentence vectors of allnli/ at a size for a CPU.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.infersent_small(
  data.allnli_small(),
  { type: 'cas_lstm', num_layers: 2, bidirectional: true },
)
