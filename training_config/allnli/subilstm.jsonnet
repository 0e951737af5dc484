// SuBiLSTM on SNLI and MultiNLI: SuBiLSTM table 2. Published: 81.4 MR, 86.4 CR, 93.2 SUBJ, 90.7 MPQA, 85.0 SST, 89.8 TREC, 76.3/83.4 MRPC, 0.886 SICK-R, 86.7 SICK-E, 0.770 STSB.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.infersent(data.allnli(), subilstm.subilstm)
