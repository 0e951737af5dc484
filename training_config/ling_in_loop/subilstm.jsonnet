// SuBiLSTM on the ling_in_loop pairs, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.ling_in_loop(), { type: 'subilstm' })
