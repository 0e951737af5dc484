// BiLSTM on SST-5: RCRN table 2. Published: 51.3 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.classification(data.sst5(min_phrase_length=4), rcrn.bilstm)
