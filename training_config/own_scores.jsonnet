// Pairs of your own with scores of their similarity: the English sentence encoder in the package
// (docs/model_card.md), whose cosines become the scores.
//
// train, validation: the files, here a sample of ten lines.
// sentence1, sentence2, score: their columns.
// lowest, highest: the scale of the scores, whole numbers.
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
  score='similarity',
  lowest=0,
  highest=5,
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  words=false,
  glove=null,
  random=!own_data.is_english(tokenizer),
  embedding_dim=100,
)
  local files = own_data.files(train, validation, 'fixtures/own_data/scores.tsv');
  local sentences = own_data.sentences(tokenizer, glove, random, words, embedding_dim);

  {
    dataset_reader: {
      type: 'sentence_pair',
      format: 'table',
      sentence1: sentence1,
      sentence2: sentence2,
      label: null,
      score: score,
      score_range: [lowest, highest],
    } + sentences.reader,
    train_data_path: files.train,
    validation_data_path: files.validation,
    datasets_for_vocab_creation: ['train'],
    [if glove != null then 'vocabulary']: sentences.vocabulary,
    model: {
      type: 'similarity_regressor',
      text_field_embedder: sentences.text_field_embedder,
      encoder: sentences.encoder,
      scorer: if sentences.trained_encoder != null then 'cosine' else {
        type: 'graded',
        matcher: 'heuristic',
        classifier: { hidden_size: 512, dropout: 0.3 },
      },
      lowest_score: lowest,
      highest_score: highest,
    },
    data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
    trainer: own_data.trainer('pearson', sentences.trained_encoder, encoder_lr=0.0001),
  }
