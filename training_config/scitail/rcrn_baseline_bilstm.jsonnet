// BiLSTM on SciTail: RCRN table 7. Published: 80.1 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.entailment(data.scitail(), rcrn.bilstm)
