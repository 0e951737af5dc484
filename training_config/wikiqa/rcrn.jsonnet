// RCRN on WikiQA: RCRN table 8. Published: 71.1 MAP, 72.3 MRR.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.wikiqa(rcrn.rcrn)
