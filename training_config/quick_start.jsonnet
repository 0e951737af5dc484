// The quick start: a small CAS-LSTM on pairs from a small grammar (fixtures/quick_start).
// `make demo` trains it in about a minute.
local embedding_dim = 64;
local hidden_size = 64;

{
  dataset_reader: {
    type: 'sentence_pair',
    format: 'table',
    sentence1: 'sentence1',
    sentence2: 'sentence2',
    label: 'label',
    tokenizer: 'spacy_blank',
  },
  train_data_path: 'fixtures/quick_start/train.tsv',
  validation_data_path: 'fixtures/quick_start/validation.tsv',
  model: {
    type: 'siamese_classifier',
    text_field_embedder: {
      token_embedders: { tokens: { type: 'embedding', embedding_dim: embedding_dim } },
    },
    encoder: {
      type: 'pooled',
      encoder: {
        type: 'cas_lstm',
        input_size: embedding_dim,
        hidden_size: hidden_size,
        bidirectional: true,
      },
      pooling: 'max',
    },
    matcher: 'heuristic',
    classifier: { hidden_size: 128 },
  },
  data_loader: { batch_size: 32, shuffle: true },
  trainer: {
    num_epochs: 8,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 0.003 },
    learning_rate_scheduler: { type: 'cosine', t_initial: 8 },
  },
}
