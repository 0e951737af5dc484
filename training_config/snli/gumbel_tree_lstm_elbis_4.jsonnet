// Gumbel Tree-LSTM + ElBiS M=4 on SNLI: thesis table 5.2. Published: 85.6 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.gumbel_tree_lstm, elbis.matcher(4))
