// CAS-LSTM: Choi, Kim and Lee 2019 (arXiv:1809.02279); thesis chapter 4. Where they are silent, the
// defaults of the authors' code (github.com/jihunchoi/ca-stacked-lstm): gradients clipped to norm
// 5, 10 epochs, 50 for SST, and at most 25 words of a sentence of Quora. Their code also starts the
// forget gates of all layers with biases of 1, where section 4.4 has zeros: zeros here.
local embedders = import 'embedders.libsonnet';
local initializers = import 'initializers.libsonnet';

local grad_norm = 5.0;

local encoder(input_size, hidden_size, num_layers, bidirectional) = {
  type: 'pooled',
  encoder: {
    type: 'cas_lstm',
    input_size: input_size,
    hidden_size: hidden_size,
    num_layers: num_layers,
    bidirectional: bidirectional,
  },
  pooling: 'max',
};

{
  // Sections 4.4.1 and 4.4.2: fixed 300D GloVe vectors, a 300D encoder with max-pooling, an MLP
  // with 1024D layers, Adam with a cosine schedule from 0.001, batches of 128. The schedule takes a
  // step after each epoch, as AllenNLP's does; the section does not say when. Its words put batch
  // normalization on the word embeddings too, which neither the paper nor the authors' code does,
  // and which is left out.
  // num_layers, bidirectional: the encoder's; mlp_layers: the classifier's hidden layers;
  // p_w, p_c: dropout on the word embeddings and in the classifier; l2: the weight of the
  // parameters' norm in the loss.
  siamese(dataset, num_layers, bidirectional, mlp_layers, p_w, p_c, l2, matcher='heuristic'):
    local hidden_size = 300;
    local num_epochs = 10;
    dataset {
      local vectors = self.word_vectors,
      word_vectors:: embedders.glove_840b,
      model: {
        type: 'siamese_classifier',
        text_field_embedder: embedders.of(vectors),
        embedding_dropout: p_w,
        encoder: encoder(vectors.dim, hidden_size, num_layers, bidirectional),
        matcher: matcher,
        classifier: { num_layers: mlp_layers, hidden_size: 1024, dropout: p_c },
        initializer: initializers.orthogonal(hidden_size),
        regularizer: { norm_weight: l2 },
      },
      data_loader: { batch_size: 128, shuffle: true },
      trainer: {
        validation_metric: '+accuracy',
        optimizer: { type: 'adam', lr: 0.001 },
        learning_rate_scheduler: { type: 'cosine', t_initial: num_epochs },
        num_epochs: num_epochs,
        grad_norm: grad_norm,
      },
    },

  // Section 4.4.3: 300D GloVe vectors that are trained too, a 2-layer encoder, an MLP with one 300D
  // layer, Adadelta with its default learning rate of 1. From the authors' code: batches of 128, no
  // batch normalization. Without a cosine schedule, it also halves the learning rate after five
  // validations, two an epoch, without a better accuracy: not here.
  // dropout: tables 4.7 and 4.8 have p_w = p_c.
  sentiment(dataset, hidden_size, bidirectional, dropout, l2): dataset {
    local vectors = self.word_vectors,
    word_vectors:: embedders.glove_840b { trainable: true },
    model: {
      type: 'sentence_classifier',
      text_field_embedder: embedders.of(vectors),
      embedding_dropout: dropout,
      encoder: encoder(vectors.dim, hidden_size, num_layers=2, bidirectional=bidirectional),
      classifier: { num_layers: 1, hidden_size: 300, dropout: dropout, batch_norm: false },
      initializer: initializers.orthogonal(hidden_size),
      regularizer: { norm_weight: l2 },
    },
    data_loader: { batch_size: 128, shuffle: true },
    trainer: {
      validation_metric: '+accuracy',
      optimizer: { type: 'adadelta', lr: 1.0 },
      num_epochs: 50,
      grad_norm: grad_norm,
    },
  },
}
