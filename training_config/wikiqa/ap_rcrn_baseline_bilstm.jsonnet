// AP-BiLSTM on WikiQA: RCRN table 8. Published: 63.9 MAP, 69.9 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.wikiqa(rcrn.bilstm, pooling='attentive')
