// LSTMN on SNLI: LSTMN table 2. Published: 79.42 %.
local data = import '../lib/data.libsonnet';
local lstmn = import '../lib/lstmn.libsonnet';

lstmn.pairs(data.snli(), lstmn.lstmn)
