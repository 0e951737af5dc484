// LSTM on SST-2: LSTMN table 1. Published: 84.78 %.
local data = import '../lib/data.libsonnet';
local lstmn = import '../lib/lstmn.libsonnet';

lstmn.sentiment(data.sst2(), lstmn.lstm)
