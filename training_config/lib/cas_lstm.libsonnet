// Sentence pairs with a CAS-LSTM: Choi, Kim and Lee 2019 (arXiv:1809.02279); thesis sections 4.4.1
// and 4.4.2. Fixed 300D GloVe vectors, a 300D encoder with max-pooling, an MLP with 1024D layers,
// Adam with a cosine schedule from 0.001, batches of 128, an L2 penalty on all parameters.
// The papers do not say how many epochs: 20 here, with the best one on the validation data kept.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local initializers = import 'initializers.libsonnet';

local hidden_size = 300;
local num_epochs = 20;

{
  // num_layers, bidirectional: the encoder's; mlp_layers: the classifier's hidden layers;
  // p_w, p_c: dropout on the word embeddings and in the classifier; l2: the penalty's factor;
  // encoder: further arguments of the `cas_lstm` encoder.
  siamese(
    dataset, num_layers, bidirectional, mlp_layers, p_w, p_c, l2, matcher='heuristic', encoder={}
  ): dataset {
    model: {
      type: 'siamese_classifier',
      text_field_embedder: embedders.pretrained(data.glove_840b, 300, trainable=false),
      embedding_dropout: p_w,
      encoder: {
        type: 'pooled',
        encoder: {
          type: 'cas_lstm',
          input_size: 300,
          hidden_size: hidden_size,
          num_layers: num_layers,
          bidirectional: bidirectional,
        } + encoder,
        pooling: 'max',
      },
      matcher: matcher,
      classifier: { num_layers: mlp_layers, hidden_size: 1024, dropout: p_c },
      initializer: initializers.thesis(hidden_size),
      regularizer: { regexes: [['.*', { type: 'l2', alpha: l2 }]] },
    },
    data_loader: { batch_size: 128, shuffle: true },
    trainer: {
      num_epochs: num_epochs,
      validation_metric: '+accuracy',
      optimizer: { type: 'adam', lr: 0.001 },
      learning_rate_scheduler: { type: 'cosine', t_initial: num_epochs },
    },
  },
}
