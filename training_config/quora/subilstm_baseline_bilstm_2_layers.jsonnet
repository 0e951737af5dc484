// 2-layer BiLSTM on Quora: SuBiLSTM table 5. Published: 87.9 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.siamese(data.quora(), subilstm.bilstm_2_layers)
