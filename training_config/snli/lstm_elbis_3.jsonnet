// LSTM + ElBiS M=3 on SNLI: thesis table 5.1. Published: 85.0 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.lstm, elbis.matcher(3))
