// AP-RCRN on WikiQA: RCRN table 8. Published: 72.4 MAP, 73.7 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.wikiqa(rcrn.rcrn, pooling='attentive')
