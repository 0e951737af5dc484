// LSTM + ElBiS M=2 on Quora: thesis table 5.3. Published: 87.3 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.quora(elbis.lstm, elbis.matcher(2))
