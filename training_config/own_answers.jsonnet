// Questions of your own with candidate answers to be ranked: a max-pooled BiLSTM and cosines.
//
// train, validation: the files, here a sample of ten lines.
// question, candidate, label: their columns; labels are 1 (a right answer) and 0 (a wrong one).
// language: the rules for splitting texts into words, by spaCy's code, such as 'de' or 'fa'.
// tokenizer: 'character' for a language without spaces between words, such as Japanese.
// glove: a file of pretrained word vectors, such as 'glove.6B.100d.txt'; null: random vectors.
// embedding_dim: the size of the word vectors.
function(
  train='fixtures/own_data/answers.tsv',
  validation='fixtures/own_data/answers.tsv',
  question='question',
  candidate='candidate',
  label='label',
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  glove=null,
  embedding_dim=100,
) {
  dataset_reader: {
    type: 'answer_selection',
    format: 'table',
    question: question,
    candidate: candidate,
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
    type: 'attentive_ranker',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: if glove == null then 'embedding' else 'pretrained_embedding',
          embedding_dim: embedding_dim,
          pretrained_file: glove,
        },
      },
    },
    encoder: { type: 'lstm', input_size: embedding_dim, hidden_size: 150, bidirectional: true },
    pooling: 'max',
    // In place of AllenNLP's narrow interval, with which all cosines begin close to 1.
    [if glove == null then 'initializer']: {
      regexes: [['.*token_embedder_tokens\\.weight', { type: 'normal', std: 0.3 }]],
    },
    embedding_dropout: 0.2,
    shared_words: true,
    questions: 'answered',
  },
  data_loader: { batch_size: 8, shuffle: true },
  trainer: {
    num_epochs: 30,
    patience: 4,
    validation_metric: '+map',
    optimizer: { type: 'adam', lr: 0.001 },
    grad_norm: 5.0,
  },
}
