// RCRN on SciTail: RCRN table 7. Published: 81.1 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.entailment(data.scitail(), rcrn.rcrn)
