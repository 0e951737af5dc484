// LSTM + ElBiS M=1 on Quora: thesis table 5.3. Published: 86.7 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.quora(elbis.lstm, elbis.matcher(1))
