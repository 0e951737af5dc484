// LSTM + ElBiS M=2 on SNLI: thesis table 5.1. Published: 84.5 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.lstm, elbis.matcher(2))
