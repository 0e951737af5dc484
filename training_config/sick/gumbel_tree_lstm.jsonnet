// Gumbel Tree-LSTM with a bidirectional leaf LSTM on SICK, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.sick(), { type: 'gumbel_tree_lstm', leaf: 'bilstm' }, pooling=null)
