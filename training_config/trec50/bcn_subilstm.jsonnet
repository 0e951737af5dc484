// BCN with SuBiLSTM on TREC-50: SuBiLSTM table 3. Published: 89.8 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.bcn(data.trec50(), subilstm.subilstm)
