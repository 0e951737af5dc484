// 3-layer BiLSTM on SciTail: RCRN table 7. Published: 79.6 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.entailment(data.scitail(), rcrn.bilstm_3_layers)
