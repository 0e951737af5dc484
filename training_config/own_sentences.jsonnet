// Labeled sentences of your own: the English sentence encoder in the package (docs/model_card.md),
// trained further with early stopping.
//
// train, validation: the files, here a sample of ten lines.
// text, label: their columns.
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
  text='text',
  label='label',
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  words=false,
  glove=null,
  random=!own_data.is_english(tokenizer),
  embedding_dim=100,
)
  local files = own_data.files(train, validation, 'fixtures/own_data/sentences.tsv');
  local sentences = own_data.sentences(tokenizer, glove, random, words, embedding_dim);

  {
    dataset_reader: {
      type: 'single_sentence',
      format: 'table',
      text: text,
      label: label,
    } + sentences.reader,
    train_data_path: files.train,
    validation_data_path: files.validation,
    datasets_for_vocab_creation: ['train'],
    [if glove != null then 'vocabulary']: sentences.vocabulary,
    model: {
      type: 'sentence_classifier',
      text_field_embedder: sentences.text_field_embedder,
      encoder: sentences.encoder,
      classifier: { num_layers: 1, hidden_size: 300, dropout: 0.3, batch_norm: false },
    },
    data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
    trainer: own_data.trainer('accuracy', sentences.trained_encoder),
  }
