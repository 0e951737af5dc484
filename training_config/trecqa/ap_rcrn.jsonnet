// AP-RCRN on TrecQA: RCRN table 8. Published: 77.9 MAP, 88.2 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.trecqa(rcrn.rcrn, pooling='attentive')
