// A few thousand pairs of your own: a 2-layer Bi-CAS-LSTM with early stopping. Its words have the
// states of the English sentence encoder in the package (docs/model_card.md), which is trained, too.
//
// train, validation: the files, here a sample of ten lines.
// sentence1, sentence2, label: their columns.
// language: the rules for splitting texts into words, by spaCy's code, such as 'de' or 'fa'.
// tokenizer: 'character' for a language without spaces between words, such as Japanese.
// glove: a file of pretrained word vectors instead of the encoder, such as 'glove.6B.100d.txt'.
// random: true for random word vectors instead of the encoder, the default for other languages.
// embedding_dim: the size of the word vectors; the encoder's states have 512 units.
function(
  train='fixtures/own_data/pairs.tsv',
  validation='fixtures/own_data/pairs.tsv',
  sentence1='text_a',
  sentence2='text_b',
  label='same',
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  glove=null,
  random=language != 'en',
  embedding_dim=if random || glove != null then 100 else 512,
) {
  local words =
    if glove != null then {
      indexer: { type: 'single_id', lowercase_tokens: true },
      embedder: {
        type: 'pretrained_embedding',
        embedding_dim: embedding_dim,
        pretrained_file: glove,
      },
    } else if random then {
      indexer: { type: 'single_id', lowercase_tokens: true },
      embedder: { type: 'embedding', embedding_dim: embedding_dim },
    } else {
      indexer: { type: 'exported_encoder' },
      embedder: { type: 'exported_encoder', trainable: true },
    },

  dataset_reader: {
    type: 'sentence_pair',
    format: 'table',
    sentence1: sentence1,
    sentence2: sentence2,
    label: label,
    tokenizer: tokenizer,
    token_indexers: { tokens: words.indexer },
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
    type: 'siamese_classifier',
    text_field_embedder: { token_embedders: { tokens: words.embedder } },
    encoder: {
      type: 'pooled',
      encoder: { type: 'cas_lstm', input_size: embedding_dim, hidden_size: 150, bidirectional: true },
      pooling: 'max',
    },
    matcher: 'heuristic',
    classifier: { hidden_size: 512, dropout: 0.3 },
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
