// Overrides that train a configuration of fairytaleqa/ on one core in forty minutes: GloVe 6B 100d,
// and five epochs of Adam with a learning rate that falls from 0.002 to zero.
//
//   (import 'training_config/local/fairytaleqa_short.libsonnet')(
//     import 'training_config/fairytaleqa/rnet_rcrn.jsonnet')
local with_glove = import 'glove_6b_100d.libsonnet';
local files = import 'fairytaleqa.json';

function(configuration)
  files + with_glove(configuration) {
    trainer: configuration.trainer {
      num_epochs: 5,
      learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 100 },
      optimizer+: { lr: 0.002 },
    },
  }
