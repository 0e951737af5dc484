// Overrides that train a configuration of allnli_small/ on one core within a quarter of an hour: a
// quarter of the pairs, 256 units per direction, and three epochs of Adam instead of InferSent's
// SGD, which needs more epochs.
//
//   (import 'training_config/local/allnli_quarter.libsonnet')(
//     import 'training_config/allnli_small/bilstm.jsonnet')
local files = import 'allnli_small.json';
local with_glove = import 'glove_6b_100d.libsonnet';

function(configuration)
  with_glove(configuration) {
    model+: { encoder+: { encoder+: { hidden_size: 256 } } },
    train_data_path: { path: files.train_data_path, folds: { number: 4, keep: [0] } },
    validation_data_path: files.validation_data_path,
    test_data_path: null,
    evaluate_on_test: false,
    trainer: {
      num_epochs: 3,
      optimizer: 'adam',
      callbacks: [{ type: 'bfloat16_products' }],
    },
  }
