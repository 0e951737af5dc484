// BCN with 2-layer BiLSTM on SST-2: SuBiLSTM table 3. Published: 89.5 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.bcn(data.sst2(min_phrase_length=4), subilstm.bilstm_2_layers)
