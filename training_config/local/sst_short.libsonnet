// Overrides that train a configuration of sst2/ or sst5/ on one core: GloVe 6B 100d, and a few
// epochs, each of them a pass over the data, with products in bfloat16.
//
//   (import 'training_config/local/sst_short.libsonnet')(
//     import 'training_config/sst2/cas_lstm.jsonnet')
local with_glove = import 'glove_6b_100d.libsonnet';
local files = import 'sst.json';

function(configuration, num_epochs=3)
  with_glove(configuration) + files + {
    data_loader: configuration.data_loader { batches_per_epoch: null },
    trainer: configuration.trainer {
      num_epochs: num_epochs,
      callbacks: [{ type: 'bfloat16_products' }],
    },
  }
