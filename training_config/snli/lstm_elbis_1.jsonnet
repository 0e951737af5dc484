// LSTM + ElBiS M=1 on SNLI: thesis table 5.1. Published: 84.4 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.lstm, elbis.matcher(1))
