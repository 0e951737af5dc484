// RCRN with decomposable attention on SNLI: RCRN section 4.3. Published: 87.0 %, approximately.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.attention(data.snli(), rcrn.rcrn)
