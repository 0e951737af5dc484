// LSTM + concat on Quora: thesis table 5.3. Published: 85.0 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.quora(elbis.lstm, 'concat')
