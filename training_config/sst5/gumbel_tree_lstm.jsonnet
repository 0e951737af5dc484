// Gumbel Tree-LSTM on SST-5: thesis table 3.2. Published: 53.7 %.
local data = import '../lib/data.libsonnet';
local gumbel_tree_lstm = import '../lib/gumbel_tree_lstm.libsonnet';

gumbel_tree_lstm.sentiment(data.sst5(min_phrase_length=1), mlp_size=1024, batch_size=64)
