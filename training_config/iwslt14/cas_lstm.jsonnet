// 2-layer CAS-LSTM: thesis table 4.10; CAS-LSTM table 5. Published: 28.8 ± 0.04 BLEU.
local data = import '../lib/data.libsonnet';
local translation = import '../lib/translation.libsonnet';

translation.model(data.iwslt14(), 'cas_lstm', hidden_size=256, dropout=0.2)
