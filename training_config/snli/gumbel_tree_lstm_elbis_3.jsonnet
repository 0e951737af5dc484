// Gumbel Tree-LSTM + ElBiS M=3 on SNLI: thesis table 5.2. Published: 85.9 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.gumbel_tree_lstm, elbis.matcher(3))
