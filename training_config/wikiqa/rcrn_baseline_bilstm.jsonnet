// BiLSTM on WikiQA: RCRN table 8. Published: 68.5 MAP, 69.8 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.wikiqa(rcrn.bilstm)
