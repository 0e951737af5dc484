// RCRN on IMDb: RCRN table 4. Published: 92.8 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.classification(data.imdb(), rcrn.rcrn)
