// 3-layer BiLSTM on WikiQA: RCRN table 8. Published: 69.3 MAP, 71.3 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.wikiqa(rcrn.bilstm_3_layers)
