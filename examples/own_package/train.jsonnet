// The model of this package with an encoder and data of allennlp_sentmatch's own_pairs.jsonnet.
(import '../../training_config/own_pairs.jsonnet')(
  train='../fixtures/own_data/pairs.tsv',
  validation='../fixtures/own_data/pairs.tsv',
  random=true,
) + {
  model: {
    type: 'length_aware_classifier',
    text_field_embedder: { token_embedders: { tokens: { type: 'embedding', embedding_dim: 32 } } },
    encoder: {
      type: 'pooled',
      encoder: { type: 'cas_lstm', input_size: 32, hidden_size: 16, bidirectional: true },
      pooling: 'max',
    },
    matcher: { type: 'cosines_of_parts', num_parts: 4 },
    class_weights: 'balanced',
  },
  trainer+: { num_epochs: 2 },
}
