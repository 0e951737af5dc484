// LSTM + heuristic on Quora: thesis table 5.3. Published: 87.0 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.quora(elbis.lstm, 'symmetric')
