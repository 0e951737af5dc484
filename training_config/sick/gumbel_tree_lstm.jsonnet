// Gumbel Tree-LSTM with a bidirectional leaf LSTM on SICK, from scratch.
local sick = import '../lib/sick.libsonnet';

sick.siamese({
  type: 'gumbel_tree_lstm',
  input_size: sick.embedding_dim,
  hidden_size: sick.hidden_size,
  leaf: 'bilstm',
})
