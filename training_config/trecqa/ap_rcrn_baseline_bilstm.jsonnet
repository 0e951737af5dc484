// AP-BiLSTM on TrecQA: RCRN table 8. Published: 75.1 MAP, 80.0 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.trecqa(rcrn.bilstm, pooling='attentive')
