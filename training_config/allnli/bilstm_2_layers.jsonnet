// 2-layer BiLSTM on SNLI and MultiNLI: SuBiLSTM table 2. Published: 81.3 MR, 86.2 CR, 92.0 SUBJ, 90.2 MPQA, 85.3 SST, 88.4 TREC, 75.7/82.9 MRPC, 0.884 SICK-R, 86.3 SICK-E, 0.763 STSB.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.infersent(data.allnli(), subilstm.bilstm_2_layers)
