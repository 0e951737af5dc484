// LSTM on SNLI: LSTMN table 2. Published: 75.94 %.
local data = import '../lib/data.libsonnet';
local lstmn = import '../lib/lstmn.libsonnet';

lstmn.pairs(data.snli(), lstmn.lstm)
