// Questions of your own about passages, answered by a part of the passage: R-NET with a BiGRU.
//
// train, validation: the files, here a sample of ten lines.
// question, passage, answers: their columns; JSON lines may have several answers in a list.
// max_passage_length: the number of tokens to which passages are cut in training.
// language: the rules for splitting texts into words, by spaCy's code, such as 'de' or 'fa'.
// tokenizer: 'character' for a language without spaces between words, such as Japanese.
// glove: a file of pretrained word vectors, such as 'glove.6B.100d.txt'; null: random vectors.
// embedding_dim: the size of the word vectors.
local own_data = import 'lib/own_data.libsonnet';

function(
  train=null,
  validation=null,
  question='question',
  passage='passage',
  answers='answers',
  max_passage_length=400,
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  glove=null,
  embedding_dim=100,
) {
  local files = own_data.files(train, validation, 'fixtures/own_data/questions.jsonl'),
  local size = 75,
  local characters_dim = 50,

  dataset_reader: {
    type: 'reading_comprehension',
    format: 'table',
    question: question,
    passage: passage,
    answers: answers,
    min_overlap: 0.2,  // an answer with fewer words of its passage has no span to learn
    max_passage_length: max_passage_length,
    tokenizer: tokenizer,
    token_indexers: {
      tokens: { type: 'single_id', lowercase_tokens: true },
      characters: { type: 'characters', min_padding_length: 1 },
    },
  },
  validation_dataset_reader: self.dataset_reader { min_overlap: null, max_passage_length: null },
  train_data_path: files.train,
  validation_data_path: files.validation,
  datasets_for_vocab_creation: ['train'],
  // With GloVe, the vocabulary also has the first words of the file.
  [if glove != null then 'vocabulary']: {
    pretrained_files: { tokens: glove },
    min_pretrained_embeddings: { tokens: 20000 },
  },
  model: {
    type: 'rnet',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: if glove == null then 'embedding' else 'pretrained_embedding',
          embedding_dim: embedding_dim,
          pretrained_file: glove,
          trainable: glove == null,
        },
        characters: {
          type: 'character_encoding',
          embedding: { embedding_dim: characters_dim, vocab_namespace: 'token_characters' },
          encoder: {
            type: 'gru',
            input_size: characters_dim,
            hidden_size: characters_dim / 2,
            bidirectional: true,
          },
        },
      },
    },
    encoder: {
      type: 'stacked_rnn',
      cell: 'gru',
      input_size: embedding_dim + characters_dim,
      hidden_size: size,
      bidirectional: true,
    },
    hidden_size: size,
    dropout: 0.2,
  },
  data_loader: { batch_sampler: { type: 'bucket', batch_size: 32, sorting_keys: ['passage'] } },
  trainer: {
    num_epochs: 20,
    patience: 4,
    validation_metric: '+rouge_l',
    optimizer: { type: 'adam', lr: 0.001 },
    grad_norm: 5.0,
  },
}
