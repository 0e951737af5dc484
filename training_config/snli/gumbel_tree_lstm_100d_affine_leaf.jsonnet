// 100D Gumbel Tree-LSTM without leaf LSTM on SNLI: thesis table 3.1. Published: 81.8 %.
local gumbel_tree_lstm = import '../lib/gumbel_tree_lstm.libsonnet';

gumbel_tree_lstm.snli_100d(leaf='affine')
