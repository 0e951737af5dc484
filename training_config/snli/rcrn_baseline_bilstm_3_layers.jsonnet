// 3-layer BiLSTM on SNLI: RCRN table 6. Published: 85.1 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.entailment(data.snli(), rcrn.bilstm_3_layers)
