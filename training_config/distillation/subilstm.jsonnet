// Tied SuBiLSTM distilled from all-MiniLM-L6-v2.
local distillation = import '../lib/distillation.libsonnet';

distillation.student({ type: 'subilstm', hidden_size: 128 })
