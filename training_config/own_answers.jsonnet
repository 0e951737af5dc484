// Questions of your own with candidate answers to be ranked by their cosine with the question: the
// English sentence encoder in the package (docs/model_card.md), trained further, and features of
// the words.
//
// train, validation: the files, here a sample of ten lines.
// question, candidate, label: their columns; labels are 1 (a right answer) and 0 (a wrong one).
// language: the rules for splitting texts into words, by spaCy's code, such as 'de' or 'fa'.
// tokenizer: 'character' for a language without spaces between words, such as Japanese.
// glove: a file of pretrained word vectors instead, such as 'glove.6B.100d.txt', for a max-pooled
//   BiLSTM with weights of the words that question and candidate share.
// random: true for random word vectors instead, the default for other languages.
// embedding_dim: the size of these vectors.
local own_data = import 'lib/own_data.libsonnet';

function(
  train=null,
  validation=null,
  question='question',
  candidate='candidate',
  label='label',
  language='en',
  tokenizer={ type: 'spacy_blank', language: language },
  glove=null,
  random=!own_data.is_english(tokenizer),
  embedding_dim=100,
)
  local files = own_data.files(train, validation, 'fixtures/own_data/answers.tsv');
  local sentences = own_data.sentences(tokenizer, glove, random, false, embedding_dim);
  local is_encoder = sentences.trained_encoder != null;

  local bilstm = {
    encoder: { type: 'lstm', input_size: embedding_dim, hidden_size: 150, bidirectional: true },
    pooling: 'max',
    // In place of AllenNLP's narrow interval, with which all cosines begin close to 1.
    [if glove == null then 'initializer']: {
      regexes: [['.*token_embedder_tokens\\.weight', { type: 'normal', std: 0.3 }]],
    },
    embedding_dropout: 0.2,
    shared_words: true,
  };

  {
    dataset_reader: {
      type: 'answer_selection',
      format: 'table',
      question: question,
      candidate: candidate,
      label: label,
      [if is_encoder then 'word_features']: true,
    } + sentences.reader,
    train_data_path: files.train,
    validation_data_path: files.validation,
    datasets_for_vocab_creation: ['train'],
    [if glove != null then 'vocabulary']: sentences.vocabulary,
    model: {
      type: 'attentive_ranker',
      text_field_embedder: sentences.text_field_embedder,
      questions: 'answered',
    } + if is_encoder then {
      encoder: { type: 'pass_through', input_dim: 384 },
      pooling: 'mean',
      num_word_features: 16,
    } else bilstm,
    data_loader: { batch_size: 8, shuffle: true },
    trainer: {
      [if is_encoder then 'no_grad']: own_data.word_pieces,
      num_epochs: 30,
      patience: 4,
      validation_metric: '+map',
      optimizer: {
        type: 'adam',
        lr: if is_encoder then 0.0001 else 0.001,
        [if is_encoder then 'parameter_groups']: [[['_comparison\\.'], { lr: 0.001 }]],
      },
      grad_norm: 5.0,
    },
  }
