// 1-layer BiLSTM distilled from all-MiniLM-L6-v2.
local distillation = import '../lib/distillation.libsonnet';

distillation.student({ type: 'lstm', hidden_size: 256, bidirectional: true })
