// BCN with BiLSTM on SST-5: SuBiLSTM table 3. Published: 53.2 %.
local data = import '../lib/data.libsonnet';
local subilstm = import '../lib/subilstm.libsonnet';

subilstm.bcn(data.sst5(min_phrase_length=4), subilstm.bilstm)
