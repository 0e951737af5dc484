// 300D Gumbel Tree-LSTM without leaf LSTM on SNLI: thesis table 3.1. Published: 84.4 %.
local gumbel_tree_lstm = import '../lib/gumbel_tree_lstm.libsonnet';

gumbel_tree_lstm.snli_300d(leaf='affine')
