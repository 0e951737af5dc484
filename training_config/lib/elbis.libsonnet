// Element-wise bilinear matching (ElBiS) and what it is compared with: Choi, Kim and Lee 2018
// (*SEM); thesis chapter 5. Fixed 300D GloVe vectors, 300D sentence vectors, an MLP with one 1024D
// layer, Adam with 0.001, halved after an epoch without a better accuracy, batches of 64, sentences
// of at most 25 words. docs/readings.md lists what they leave open.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local initializers = import 'initializers.libsonnet';
local schedulers = import 'schedulers.libsonnet';

local size = 300;
local dropout = 0.15;

local siamese(dataset, encoder, matcher, num_epochs) = dataset {
  local vectors = self.word_vectors,
  word_vectors:: embedders.glove_840b,
  model: {
    type: 'siamese_classifier',
    text_field_embedder: embedders.of(vectors),
    embedding_dropout: dropout,
    encoder: encoder { input_size: vectors.dim },
    matcher: matcher,
    classifier: { num_layers: 1, hidden_size: 1024, dropout: dropout },
    initializer: initializers.orthogonal(size),
  },
  data_loader: { batch_size: 64, shuffle: true },
  trainer: {
    num_epochs: num_epochs,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 0.001 },
    learning_rate_scheduler: schedulers.halve_after(1),
  },
};

{
  // The encoders that the tables compare, without the size of the input. Of the left-to-right LSTM,
  // the last state.
  lstm: { type: 'lstm', hidden_size: size },
  gumbel_tree_lstm: { type: 'gumbel_tree_lstm', hidden_size: size },

  matcher(num_interactions): { type: 'elbis', num_interactions: num_interactions },

  // Section 5.3.1.
  snli(encoder, matcher): siamese(data.snli(max_length=25), encoder, matcher, num_epochs=10),
  // Section 5.3.2.
  quora(encoder, matcher): siamese(data.quora(max_length=25), encoder, matcher, num_epochs=15),
}
