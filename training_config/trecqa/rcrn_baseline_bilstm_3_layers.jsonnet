// 3-layer BiLSTM on TrecQA: RCRN table 8. Published: 73.0 MAP, 83.6 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.trecqa(rcrn.bilstm_3_layers)
