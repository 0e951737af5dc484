// LSTM on ListOps.
local listops = import '../lib/listops.libsonnet';

listops.last_state({ type: 'lstm' })
