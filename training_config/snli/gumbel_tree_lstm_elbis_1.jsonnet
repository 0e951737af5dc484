// Gumbel Tree-LSTM + ElBiS M=1 on SNLI: thesis table 5.2. Published: 84.8 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.gumbel_tree_lstm, elbis.matcher(1))
