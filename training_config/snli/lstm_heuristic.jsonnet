// LSTM + heuristic on SNLI: thesis table 5.1. Published: 83.9 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.lstm, 'heuristic_difference')
