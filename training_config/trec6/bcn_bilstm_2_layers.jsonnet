// BCN with 2-layer BiLSTM on TREC-6: SuBiLSTM table 3. Published: 95.5 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.bcn(data.trec6(), subilstm.bilstm_2_layers)
