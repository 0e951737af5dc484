// Gumbel Tree-LSTM with a bidirectional leaf LSTM on SICK, from scratch.
local data = import '../lib/data.libsonnet';
local from_scratch = import '../lib/from_scratch.libsonnet';

from_scratch.siamese(data.sick(), {
  type: 'gumbel_tree_lstm',
  input_size: from_scratch.embedding_dim,
  hidden_size: from_scratch.hidden_size,
  leaf: 'bilstm',
})
