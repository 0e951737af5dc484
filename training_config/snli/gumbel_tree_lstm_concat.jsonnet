// Gumbel Tree-LSTM + concat on SNLI: thesis table 5.2. Published: 82.4 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.gumbel_tree_lstm, 'concat')
