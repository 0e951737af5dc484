// BiLSTM (InferSent) on SNLI and MultiNLI: SuBiLSTM table 2. Published: 81.1 MR, 86.3 CR, 92.4 SUBJ, 90.2 MPQA, 84.6 SST, 88.2 TREC, 76.2/83.1 MRPC, 0.884 SICK-R, 86.3 SICK-E, 0.758 STSB.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.infersent(data.allnli(), subilstm.bilstm)
