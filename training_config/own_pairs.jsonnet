// A few thousand pairs of your own, with early stopping and, optionally, GloVe vectors.
//
// glove: a file of pretrained word vectors, such as 'glove.6B.100d.txt'; null: random vectors.
// embedding_dim: the size of these vectors.
// model: 'esim' compares the sentences word by word; 'siamese' reads each sentence separately, so
// that it also gives sentence vectors (`allennlp encode`, `allennlp search`).
function(glove=null, embedding_dim=100, model='esim') {
  local embedder = {
    token_embedders: {
      tokens: { type: 'embedding', embedding_dim: embedding_dim, pretrained_file: glove },
    },
  },
  local dropout = 0.3,

  dataset_reader: {
    type: 'sentence_pair',
    format: 'table',
    sentence1: 'text_a',
    sentence2: 'text_b',
    label: 'same',
    token_indexers: { tokens: { type: 'single_id', lowercase_tokens: true } },
  },
  train_data_path: 'train.tsv',
  validation_data_path: 'validation.tsv',
  datasets_for_vocab_creation: ['train'],
  // With GloVe, the model also knows the file's first words, whether training has them or not.
  [if glove != null then 'vocabulary']: {
    pretrained_files: { tokens: glove },
    min_pretrained_embeddings: { tokens: 20000 },
  },
  model: {
    esim: {
      type: 'sentmatch_esim',
      text_field_embedder: embedder,
      encoder: { type: 'lstm', input_size: embedding_dim, hidden_size: 100, bidirectional: true },
      inference_encoder: { type: 'lstm', input_size: 100, hidden_size: 100, bidirectional: true },
      classifier: { hidden_size: 200, dropout: dropout, batch_norm: false },
      dropout: dropout,
    },
    siamese: {
      type: 'siamese_classifier',
      text_field_embedder: embedder,
      encoder: {
        type: 'pooled',
        encoder: {
          type: 'cas_lstm',
          input_size: embedding_dim,
          hidden_size: 150,
          bidirectional: true,
        },
        pooling: 'max',
      },
      matcher: 'heuristic',
      classifier: { hidden_size: 512, dropout: dropout },
    },
  }[model],
  data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
  trainer: {
    num_epochs: 30,
    patience: 4,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 0.001 },
    learning_rate_scheduler: {
      type: 'reduce_on_plateau',
      mode: 'max',
      factor: 0.5,
      patience: 1,
    },
  },
}
