// Overrides that put GloVe 6B 100d in place of a configuration's word vectors:
//
//   (import 'training_config/local/glove_6b_100d.libsonnet')(
//     import 'training_config/snli/cas_lstm.jsonnet')
local embedders = import '../lib/embedders.libsonnet';

function(configuration)
  embedders.with_vectors(configuration, embedders.glove_6b_100d {
    file: '../shared/data/glove/glove.6B.100d.of_these_data.txt.gz',
  })
