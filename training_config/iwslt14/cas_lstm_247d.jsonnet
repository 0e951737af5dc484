// 2-layer CAS-LSTM with as many parameters as the LSTM: thesis table 4.10; CAS-LSTM table 5. Published: 28.7 ± 0.07 BLEU.
local data = import '../lib/data.libsonnet';
local translation = import '../lib/translation.libsonnet';

translation.model(data.iwslt14(), 'cas_lstm', hidden_size=247, dropout=0.2)
