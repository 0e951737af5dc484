// Overrides that train an encoder of ling_in_loop/, or ESIM of snli/, on one core: GloVe 6B 100d,
// 20,000 pairs, and five epochs with products in bfloat16.
//
//   (import 'training_config/local/ling_in_loop_20k.libsonnet')(
//     import 'training_config/ling_in_loop/rcrn.jsonnet')
local with_glove = import 'glove_6b_100d.libsonnet';
local files = import 'ling_in_loop.json';

local num_epochs = 5;

function(configuration)
  with_glove(configuration) {
    train_data_path: { path: files.train_data_path, folds: { number: 9, keep: [0, 1, 2, 3] } },
    validation_data_path: files.validation_data_path,
    test_data_path: null,
    evaluate_on_test: false,
    local scheduler = std.get(configuration.trainer, 'learning_rate_scheduler', {}),
    trainer: configuration.trainer {
      num_epochs: num_epochs,
      [if 't_initial' in scheduler then 'learning_rate_scheduler']+: { t_initial: num_epochs },
      callbacks: [{ type: 'bfloat16_products' }],
    },
  }
