// Overrides that train a configuration of multi30k/ on one core in twenty minutes: eight epochs of
// Adam with a learning rate that falls to zero, half as large batches, and products in bfloat16.
// Validation is greedy; docs/translation.md decodes the test set with the beam.
//
//   (import 'training_config/local/multi30k_short.libsonnet')(
//     import 'training_config/multi30k/cas_lstm.jsonnet')
local files = import 'multi30k.json';

function(configuration)
  files {
    model: configuration.model { beam_search+: { beam_size: 1 } },
    data_loader: { batch_sampler: { type: 'max_tokens_sampler', max_tokens: 2000 } },
    evaluate_on_test: false,
    trainer: configuration.trainer {
      num_epochs: 8,
      learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 200 },
      optimizer+: { lr: 0.004 },
      callbacks+: [{ type: 'bfloat16_products' }],
    },
  }
