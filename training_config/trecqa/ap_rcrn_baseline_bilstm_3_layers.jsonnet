// AP-3L-BiLSTM on TrecQA: RCRN table 8. Published: 73.3 MAP, 83.4 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.trecqa(rcrn.bilstm_3_layers, pooling='attentive')
