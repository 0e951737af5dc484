// LSTM + ElBiS M=3 on Quora: thesis table 5.3. Published: 87.1 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.quora(elbis.lstm, elbis.matcher(3))
