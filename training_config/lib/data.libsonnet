// Where the data sets and the word vectors are, and how the data is read: the only file that
// knows. To read a local copy, give `allennlp train` the paths with `--overrides`; the files in
// training_config/local/ do that for a folder of data sets beside the repository.
local allennlp = 'https://allennlp.s3.amazonaws.com/datasets/';
local semeval = 'https://alt.qcri.org/semeval2014/task1/data/uploads/';
local quora = 'https://s3-us-west-2.amazonaws.com/allennlp/datasets/quora-question-paraphrase/';

local pairs(format, max_length) = {
  type: 'sentence_pair',
  format: format,
  tokenizer: 'spacy_blank',
  max_length: max_length,
};

{
  // Cased word vectors, 300 dimensions.
  glove_840b: allennlp + 'glove/glove.840B.300d.txt.gz',

  snli(max_length=null): {
    dataset_reader: pairs('snli', max_length),
    train_data_path: allennlp + 'snli/snli_1.0_train.jsonl',
    validation_data_path: allennlp + 'snli/snli_1.0_dev.jsonl',
    test_data_path: allennlp + 'snli/snli_1.0_test.jsonl',
    evaluate_on_test: true,
  },

  // The test sets are not public: the matched development set validates, the mismatched one tests.
  multinli(max_length=null): {
    dataset_reader: pairs('multinli', max_length),
    train_data_path: allennlp + 'multinli/multinli_1.0_train.jsonl',
    validation_data_path: allennlp + 'multinli/multinli_1.0_dev_matched.jsonl',
    test_data_path: allennlp + 'multinli/multinli_1.0_dev_mismatched.jsonl',
    evaluate_on_test: true,
  },

  // The partition of Wang et al. (2017).
  quora(max_length=null): {
    dataset_reader: pairs('quora', max_length),
    train_data_path: quora + 'train.tsv',
    validation_data_path: quora + 'dev.tsv',
    test_data_path: quora + 'test.tsv',
    evaluate_on_test: true,
  },

  sick(max_length=null): {
    dataset_reader: pairs('sick', max_length),
    train_data_path: semeval + 'sick_train.zip!SICK_train.txt',
    validation_data_path: semeval + 'sick_trial.zip!SICK_trial.txt',
    test_data_path: semeval + 'sick_test_annotated.zip!SICK_test_annotated.txt',
    evaluate_on_test: true,
  },
}
