// BCN with SuBiLSTM on TREC-6: SuBiLSTM table 3. Published: 95.8 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.bcn(data.trec6(), subilstm.subilstm)
