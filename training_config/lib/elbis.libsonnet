// Element-wise bilinear matching (ElBiS) and what it is compared with: Choi, Kim and Lee 2018 (*SEM);
// thesis chapter 5. Fixed 300D GloVe vectors, 300D sentence vectors, an MLP with one 1024D layer,
// Adam with 0.001, halved after an epoch without a better accuracy, batches of 64, sentences of at
// most 25 words. The dropout probability was chosen from 0.10, 0.15 and 0.20, which one is not said:
// 0.15 here.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local initializers = import 'initializers.libsonnet';
local schedulers = import 'schedulers.libsonnet';

local size = 300;
local dropout = 0.15;
local encoder(type) = { type: type, input_size: size, hidden_size: size };

local siamese(dataset, encoder, matcher, num_epochs) = dataset {
  model: {
    type: 'siamese_classifier',
    text_field_embedder: embedders.pretrained(data.glove_840b, size, trainable=false),
    embedding_dropout: dropout,
    encoder: encoder,
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
  // The last state of a left-to-right LSTM.
  lstm: encoder('lstm'),
  gumbel_tree_lstm: encoder('gumbel_tree_lstm'),

  matcher(num_interactions): { type: 'elbis', num_interactions: num_interactions },

  // Section 5.3.1.
  snli(encoder, matcher): siamese(data.snli(max_length=25), encoder, matcher, num_epochs=10),
  // Section 5.3.2.
  quora(encoder, matcher): siamese(data.quora(max_length=25), encoder, matcher, num_epochs=15),
}
