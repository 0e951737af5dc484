// RCRN on TREC-6: RCRN table 5. Published: 96.2 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.classification(data.trec6(), rcrn.rcrn)
