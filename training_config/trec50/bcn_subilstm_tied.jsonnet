// BCN with SuBiLSTM-Tied on TREC-50: SuBiLSTM table 3. Published: 89.4 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.bcn(data.trec50(), subilstm.subilstm_tied)
