// BiLSTM on SST-2: RCRN table 3. Published: 89.7 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.classification(data.sst2(min_phrase_length=4), rcrn.bilstm)
