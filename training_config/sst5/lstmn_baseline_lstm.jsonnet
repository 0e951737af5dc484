// LSTM on SST-5: LSTMN table 1. Published: 46.22 %.
local data = import '../lib/data.libsonnet';
local lstmn = import '../lib/lstmn.libsonnet';

lstmn.sentiment(data.sst5(), lstmn.lstm)
