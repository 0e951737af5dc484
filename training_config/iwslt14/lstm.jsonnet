// 2-layer LSTM: thesis table 4.10; CAS-LSTM table 5. Published: 28.1 ± 0.22 BLEU.
local data = import '../lib/data.libsonnet';
local translation = import '../lib/translation.libsonnet';

translation.model(data.iwslt14(), 'lstm', hidden_size=256, dropout=0.1)
