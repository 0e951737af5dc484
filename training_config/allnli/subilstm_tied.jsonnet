// SuBiLSTM-Tied on SNLI and MultiNLI: SuBiLSTM table 2. Published: 81.6 MR, 86.5 CR, 93.0 SUBJ, 90.5 MPQA, 85.1 SST, 90.4 TREC, 76.3/83.3 MRPC, 0.885 SICK-R, 86.3 SICK-E, 0.771 STSB.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.infersent(data.allnli(), subilstm.subilstm_tied)
