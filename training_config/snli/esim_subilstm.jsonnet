// ESIM with SuBiLSTM on SNLI: SuBiLSTM table 4. Published: 88.3 %; ensemble of 5, 89.1 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.esim(data.snli(), subilstm.subilstm)
