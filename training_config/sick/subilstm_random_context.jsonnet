// SuBiLSTM over prefixes and suffixes of random lengths, up to 5 tokens, on SICK, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.sick(), { type: 'subilstm', max_context: 5, random_context: true })
