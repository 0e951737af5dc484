// BiLSTM on TrecQA: RCRN table 8. Published: 72.4 MAP, 82.5 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.trecqa(rcrn.bilstm)
