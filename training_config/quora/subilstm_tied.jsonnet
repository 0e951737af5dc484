// SuBiLSTM-Tied on Quora: SuBiLSTM table 5. Published: 88.1 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.siamese(data.quora(), subilstm.subilstm_tied)
