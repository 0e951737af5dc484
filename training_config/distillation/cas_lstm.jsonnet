// 2-layer Bi-CAS-LSTM distilled from all-MiniLM-L6-v2.
local distillation = import '../lib/distillation.libsonnet';

distillation.student({
  type: 'cas_lstm',
  hidden_size: 128,
  num_layers: 2,
  bidirectional: true,
})
