// RCRN on TrecQA: RCRN table 8. Published: 75.4 MAP, 85.5 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.trecqa(rcrn.rcrn)
