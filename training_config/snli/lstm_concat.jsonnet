// LSTM + concat on SNLI: thesis table 5.1. Published: 81.6 %.
local elbis = import '../lib/elbis.libsonnet';

elbis.snli(elbis.lstm, 'concat')
