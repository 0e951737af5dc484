// 3-layer BiLSTM on SST-2: RCRN table 3. Published: 90.0 %.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.classification(data.sst2(min_phrase_length=4), rcrn.bilstm_3_layers)
