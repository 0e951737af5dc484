// What own_*.jsonnet share: the sentences of your own data, and the training.
//
// glove: a file of pretrained word vectors, or null. random: whether the word vectors are random.
// words: whether an encoder of your choice reads the states of the package's encoder.
local schedulers = import 'schedulers.libsonnet';

local single_id = { type: 'single_id', lowercase_tokens: true };

local trained_encoder = 'token_embedder_tokens\\.encoder\\.';

local pooled_cas_lstm(input_size) = {
  type: 'pooled',
  encoder: { type: 'cas_lstm', input_size: input_size, hidden_size: 150, bidirectional: true },
  pooling: 'max',
};

// With GloVe, the vocabulary also has the first words of the file.
local glove_vocabulary(glove) = {
  pretrained_files: { tokens: glove },
  min_pretrained_embeddings: { tokens: 20000 },
};

{
  // The files to train and to validate with: both the sample, or both named.
  files(train, validation, sample)::
    if train == null && validation == null then { train: sample, validation: sample }
    else if train == null || validation == null then
      error 'name both train and validation; docs/own_data.md divides a single file into folds'
    else { train: train, validation: validation },

  // Whether the encoder in the package knows texts that are split by this tokenizer.
  is_english(tokenizer):: tokenizer == { type: 'spacy_blank', language: 'en' },

  // The names of the encoder's table of word pieces, which is not trained: a batch touches few.
  word_pieces:: ['.*' + trained_encoder + 'embedding\\.weight'],

  // The vectors of sentences. By default they are those of the English encoder in the package
  // (docs/model_card.md), which is trained further: `trained_encoder` is the beginning of its
  // parameters' names. Otherwise, a 2-layer Bi-CAS-LSTM reads words.
  sentences(tokenizer, glove, random, words, embedding_dim)::
    if random || glove != null then {
      reader: { tokenizer: tokenizer, token_indexers: { tokens: single_id } },
      [if glove != null then 'vocabulary']: glove_vocabulary(glove),
      text_field_embedder: {
        token_embedders: {
          tokens: {
            type: if glove == null then 'embedding' else 'pretrained_embedding',
            embedding_dim: embedding_dim,
            [if glove != null then 'pretrained_file']: glove,
          },
        },
      },
      encoder: pooled_cas_lstm(embedding_dim),
      trained_encoder: null,
    } else if words then {
      reader: { tokenizer: tokenizer, token_indexers: { tokens: { type: 'exported_encoder' } } },
      text_field_embedder: {
        token_embedders: { tokens: { type: 'exported_encoder', trainable: true } },
      },
      encoder: pooled_cas_lstm(512),
      trained_encoder: null,
    } else {
      reader: {
        tokenizer: 'whitespace',  // the encoder splits the parts into word pieces
        token_indexers: { tokens: { type: 'exported_encoder' } },
      },
      text_field_embedder: {
        token_embedders: {
          tokens: { type: 'exported_encoder', trainable: true, whole_sentence: true },
        },
      },
      encoder: { type: 'bag_of_embeddings', embedding_dim: 384, averaged: true },
      trained_encoder: trained_encoder,
    },

  // Adam with early stopping by a metric of which more is better. An encoder that is trained further
  // has a smaller learning rate, and its table of word pieces is not trained.
  trainer(metric, trained_encoder, encoder_lr=0.0002):: {
    [if trained_encoder != null then 'no_grad']: $.word_pieces,
    num_epochs: 30,
    patience: 4,
    validation_metric: '+' + metric,
    optimizer: {
      type: 'adam',
      lr: 0.001,
      [if trained_encoder != null then 'parameter_groups']: [[[trained_encoder], { lr: encoder_lr }]],
    },
    learning_rate_scheduler: schedulers.halve_after(2),
  },
}
