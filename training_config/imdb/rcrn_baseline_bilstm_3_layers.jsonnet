// 3-layer BiLSTM on IMDb: RCRN table 4. Published: 91.8 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.classification(data.imdb(), rcrn.bilstm_3_layers)
