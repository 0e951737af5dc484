// RCRN on MSRP, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.msrp(), { type: 'rcrn' })
