// SuBiLSTM-Tied on 54,825 pairs: the sentence vectors of allnli/ at a size for a CPU.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.infersent_small(data.allnli_small(), subilstm.subilstm_tied)
