// A few hundred or thousand labeled pairs of your own: the English sentence encoder in the package
// (docs/model_card.md), trained further with early stopping, and features of the words.
//
// train, validation: the files, here a sample of ten lines.
// sentence1, sentence2, label: their columns.
// language: the rules for splitting texts into words, by spaCy's code, such as 'de' or 'fa'.
// tokenizer: 'character' for a language without spaces between words, such as Japanese.
// words: true for an encoder of your choice, by default a CAS-LSTM, over the states of the
//   package's encoder, which have 512 units (docs/components.md).
// glove: a file of pretrained word vectors instead, such as 'glove.6B.100d.txt'.
// random: true for random word vectors instead, the default for other languages.
// embedding_dim: the size of these vectors.
local own_data = import 'lib/own_data.libsonnet';

function(
  train=null,
  validation=null,
  sentence1='text_a',
  sentence2='text_b',
  label='same',
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  words=false,
  glove=null,
  random=!own_data.is_english(tokenizer),
  embedding_dim=100,
)
  local files = own_data.files(train, validation, 'fixtures/own_data/pairs.tsv');
  local sentences = own_data.sentences(tokenizer, glove, random, words, embedding_dim);
  local is_encoder = sentences.trained_encoder != null;

  {
    dataset_reader: {
      type: 'sentence_pair',
      format: 'table',
      sentence1: sentence1,
      sentence2: sentence2,
      label: label,
      [if is_encoder then 'word_features']: true,
    } + sentences.reader,
    train_data_path: files.train,
    validation_data_path: files.validation,
    datasets_for_vocab_creation: ['train'],
    [if glove != null then 'vocabulary']: sentences.vocabulary,
    model: {
      type: 'siamese_classifier',
      text_field_embedder: sentences.text_field_embedder,
      encoder: sentences.encoder,
      matcher: 'heuristic',
    } + if is_encoder then {
      // Without batch normalization, the small numbers of vectors of length 1 are learned slowly,
      // so that a few hundred pairs are not learned by heart.
      classifier: { hidden_size: 512, dropout: 0.5, batch_norm: false },
      num_word_features: 16,
    } else {
      classifier: { hidden_size: 512, dropout: 0.3 },
    },
    data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
    trainer: own_data.trainer('accuracy', sentences.trained_encoder),
  }
