// Gumbel Tree-LSTM: Choi, Yoo and Lee 2018 (arXiv:1707.02786); thesis chapter 3. Where they are
// silent or differ from it, as the authors' code (github.com/jihunchoi/unsupervised-treelstm) has
// it; where both are, AllenNLP's default. docs/readings.md has the list.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local initializers = import 'initializers.libsonnet';
local schedulers = import 'schedulers.libsonnet';

local encoder(input_size, hidden_size, leaf) = {
  type: 'gumbel_tree_lstm',
  input_size: input_size,
  hidden_size: hidden_size,
  leaf: leaf,
  temperature: 1.0,
};

local num_passes = 20;
local grad_norm = 5.0;

// Section 3.5.1: Adam with its default learning rate, halved after one epoch without a better
// accuracy; batches of 128. leaf: 'lstm' or 'affine'.
local siamese(
  word_vectors, hidden_size, leaf, classifier, embedding_dropout=0.0
) = data.validated(data.lower_case(data.snli()), number=10, batch_size=128) {
  local vectors = self.word_vectors,
  word_vectors:: word_vectors { zero_missing: true },
  model: {
    type: 'siamese_classifier',
    text_field_embedder: embedders.of(vectors),
    embedding_dropout: embedding_dropout,
    encoder: encoder(vectors.dim, hidden_size, leaf),
    matcher: 'heuristic',
    classifier: classifier,
    initializer: initializers.gumbel_tree_lstm(leaf, last_layer=0.005),
  },
  trainer: {
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 0.001 },
    learning_rate_scheduler: schedulers.halve_after(10 + 1),
    num_epochs: num_passes * 10,
    grad_norm: grad_norm,
  },
};

{
  snli_100d(leaf): siamese(
    embedders.glove_6b_100d { trainable: true },
    hidden_size=100,
    leaf=leaf,
    classifier={ num_layers: 1, hidden_size: 200, batch_norm: false },
  ),

  snli_300d(leaf): siamese(
    embedders.glove_840b,
    hidden_size=300,
    leaf=leaf,
    classifier={ num_layers: 1, hidden_size: 1024, dropout: 0.1 },
    embedding_dropout=0.1,
  ),

  snli_600d(): siamese(
    embedders.glove_840b,
    hidden_size=600,
    leaf='lstm',
    // Batch normalization and dropout are at "the input and the output of the MLP".
    classifier={ num_layers: 3, hidden_size: 1024, dropout: 0.2, between_layers: false },
    embedding_dropout=0.2,
  ),

  // Section 3.5.2: 300D GloVe vectors that are trained too, Adadelta with its default learning rate
  // of 1, halved after two epochs without a better accuracy.
  sentiment(dataset, mlp_size, batch_size): data.validated(
    data.lower_case(dataset), number=20, batch_size=batch_size
  ) {
    local vectors = self.word_vectors,
    word_vectors:: embedders.glove_840b { trainable: true, zero_missing: true },
    model: {
      type: 'sentence_classifier',
      text_field_embedder: embedders.of(vectors),
      embedding_dropout: 0.5,
      encoder: encoder(vectors.dim, 300, leaf='lstm'),
      classifier: { num_layers: 1, hidden_size: mlp_size, dropout: 0.5, batch_norm: false },
      initializer: initializers.gumbel_tree_lstm('lstm', last_layer=0.002),
    },
    trainer: {
      validation_metric: '+accuracy',
      optimizer: { type: 'adadelta', lr: 1.0 },
      learning_rate_scheduler: schedulers.halve_after(2 * 20 + 1),
      num_epochs: num_passes * 20,
      grad_norm: grad_norm,
    },
  },
}
