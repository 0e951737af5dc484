// LSTMN with inter-attention on SNLI: LSTMN table 2. Published: 83.58 %.
local data = import '../lib/data.libsonnet';
local lstmn = import '../lib/lstmn.libsonnet';

lstmn.pairs(data.snli(), lstmn.lstmn_inter_attention)
