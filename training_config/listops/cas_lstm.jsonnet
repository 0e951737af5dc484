// 2-layer CAS-LSTM on ListOps.
local listops = import '../lib/listops.libsonnet';

listops.last_state({ type: 'cas_lstm' })
