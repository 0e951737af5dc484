// LSTMN on SST-2: LSTMN table 1. Published: 86.08 %.
local data = import '../lib/data.libsonnet';
local lstmn = import '../lib/lstmn.libsonnet';

lstmn.sentiment(data.sst2(), lstmn.lstmn)
