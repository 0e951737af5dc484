// ESIM with 2-layer BiLSTM on SNLI: SuBiLSTM table 4. Published: 87.9 %; ensemble of 5, 88.7 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.esim(data.snli(), subilstm.bilstm_2_layers)
