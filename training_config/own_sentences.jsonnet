// Labeled sentences of your own: a 2-layer Bi-CAS-LSTM with early stopping.
//
// train, validation: the files, here a sample of ten lines.
// text, label: their columns.
// language: the rules for splitting texts into words, by spaCy's code, such as 'de' or 'fa'.
// tokenizer: 'character' for a language without spaces between words, such as Japanese.
// glove: a file of pretrained word vectors, such as 'glove.6B.100d.txt'; null: random vectors.
// embedding_dim: the size of the word vectors.
function(
  train='fixtures/own_data/sentences.tsv',
  validation='fixtures/own_data/sentences.tsv',
  text='text',
  label='label',
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  glove=null,
  embedding_dim=100,
) {
  dataset_reader: {
    type: 'single_sentence',
    format: 'table',
    text: text,
    label: label,
    tokenizer: tokenizer,
    token_indexers: { tokens: { type: 'single_id', lowercase_tokens: true } },
  },
  train_data_path: train,
  validation_data_path: validation,
  datasets_for_vocab_creation: ['train'],
  // With GloVe, the vocabulary also has the first words of the file.
  [if glove != null then 'vocabulary']: {
    pretrained_files: { tokens: glove },
    min_pretrained_embeddings: { tokens: 20000 },
  },
  model: {
    type: 'sentence_classifier',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: if glove == null then 'embedding' else 'pretrained_embedding',
          embedding_dim: embedding_dim,
          pretrained_file: glove,
        },
      },
    },
    encoder: {
      type: 'pooled',
      encoder: { type: 'cas_lstm', input_size: embedding_dim, hidden_size: 150, bidirectional: true },
      pooling: 'max',
    },
    classifier: { num_layers: 1, hidden_size: 300, dropout: 0.3, batch_norm: false },
  },
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
