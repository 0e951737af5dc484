// Overrides that train own_pairs.jsonnet and own_scores.jsonnet on the data sets of
// docs/languages.md.
//
//   (import 'training_config/local/languages.libsonnet').farstail
local own_pairs = import '../own_pairs.jsonnet';
local own_scores = import '../own_scores.jsonnet';
local farstail(part) = '../shared/data/farstail/%s-word.csv.gz' % part;
local jsts = { path: '../shared/data/jsts/train-v1.3.jsonl.gz' };

{
  farstail:: own_pairs(
    train=farstail('Train'),
    validation=farstail('Val'),
    sentence1='premise',
    sentence2='hypothesis',
    label='label',
    language='fa'
  ) + {
    dataset_reader+: { quoted: true },
    test_data_path: farstail('Test'),
    evaluate_on_test: true,
  },

  // A tenth of the training pairs, by lines, validates, and the validation pairs are for testing.
  jsts:: own_scores(
    train=jsts { folds: { number: 10, drop: [0], by: 'line' } },
    validation=jsts { folds: { number: 10, keep: [0], by: 'line' } },
    sentence1='sentence1',
    sentence2='sentence2',
    score='label',
    language='ja',
    tokenizer='character'
  ) + {
    test_data_path: '../shared/data/jsts/valid-v1.3.jsonl.gz',
    evaluate_on_test: true,
  },
}
