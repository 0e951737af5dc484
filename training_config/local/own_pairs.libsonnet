// Overrides that train own_pairs.jsonnet on the data sets of docs/own_data.md.
//
//   (import 'training_config/local/own_pairs.libsonnet').sick(random=true)
//
// Without arguments: the encoder in the package, trained further. `words`: a CAS-LSTM over its
// states of words. `with_glove`: GloVe 6B 100d. `random`: random vectors.
local own_pairs = import '../own_pairs.jsonnet';
local ling_in_loop = import 'ling_in_loop.json';

local on(format, words, with_glove, random, paths) =
  own_pairs(
    glove=if with_glove then '../shared/data/glove/glove.6B.100d.of_these_data.txt.gz',
    random=random,
    words=words
  ) + {
    dataset_reader+: { format: format, sentence1:: null, sentence2:: null, label:: null },
    evaluate_on_test: true,
  } + paths;

{
  sick(words=false, with_glove=false, random=false)::
    on('sick', words, with_glove, random, import 'sick.json'),
  msrp(words=false, with_glove=false, random=false)::
    on('msrp', words, with_glove, random, import 'msrp.json'),

  // 2,500 of the 44,983 training pairs, as many for validation, and the validation pairs for testing.
  ling_in_loop(words=false, with_glove=false, random=false):: on('snli', words, with_glove, random, {
    train_data_path: { path: ling_in_loop.train_data_path, folds: { number: 18, keep: [0] } },
    validation_data_path: self.train_data_path { folds+: { keep: [1] } },
    test_data_path: ling_in_loop.validation_data_path,
  }),
}
