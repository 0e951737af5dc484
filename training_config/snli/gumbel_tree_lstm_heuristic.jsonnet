// Gumbel Tree-LSTM + heuristic on SNLI: thesis table 5.2. Published: 84.6 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.gumbel_tree_lstm, 'heuristic_difference')
