// 2-layer LSTM, Multi30k, German to English.
local data = import '../lib/data.libsonnet';
local translation = import '../lib/translation.libsonnet';

translation.model(data.multi30k(), 'lstm', hidden_size=256, dropout=0.1)
