// ESIM with BiLSTM on SNLI: SuBiLSTM table 4. Published: 87.8 %; ensemble of 5, 88.6 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.esim(data.snli(), subilstm.bilstm)
