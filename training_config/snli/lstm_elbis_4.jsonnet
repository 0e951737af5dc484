// LSTM + ElBiS M=4 on SNLI: thesis table 5.1. Published: 84.6 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.lstm, elbis.matcher(4))
