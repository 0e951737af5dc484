// Gumbel Tree-LSTM on SST-2: thesis table 3.2. Published: 90.7 %.
local data = import '../lib/data.libsonnet';
local gumbel_tree_lstm = import '../lib/gumbel_tree_lstm.libsonnet';

gumbel_tree_lstm.sentiment(data.sst2(min_phrase_length=1), mlp_size=300, batch_size=32)
