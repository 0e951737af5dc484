// AP-3L-BiLSTM on WikiQA: RCRN table 8. Published: 69.8 MAP, 71.3 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.wikiqa(rcrn.bilstm_3_layers, pooling='attentive')
