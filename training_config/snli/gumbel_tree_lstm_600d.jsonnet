// 600D Gumbel Tree-LSTM on SNLI: thesis table 3.1. Published: 86.0 %.
local gumbel_tree_lstm = import '../lib/gumbel_tree_lstm.libsonnet';

gumbel_tree_lstm.snli_600d()
