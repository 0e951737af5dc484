// CAS-LSTM: Choi, Kim and Lee 2019 (arXiv:1809.02279); thesis chapter 4. Where they are silent or
// differ from it, as the authors' code (github.com/jihunchoi/ca-stacked-lstm) has it by default:
// docs/readings.md has the list.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local initializers = import 'initializers.libsonnet';
local schedulers = import 'schedulers.libsonnet';

local batch_size = 128;
local grad_norm = 5.0;
local word_vectors = embedders.glove_840b { zero_missing: true };

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
  // with 1024D layers, Adam with a cosine schedule from 0.001, batches of 128.
  // max_length: of training sentences; num_layers, bidirectional: the encoder's; mlp_layers: the
  // classifier's hidden layers; word_dropout, classifier_dropout: dropout on the word embeddings and
  // in the classifier, the thesis's p_w and p_c; l2_norm: the weight of the parameters' norm in the
  // loss.
  siamese(
    dataset,
    max_length,
    num_layers,
    bidirectional,
    mlp_layers,
    word_dropout,
    classifier_dropout,
    l2_norm,
    matcher='heuristic',
  ):
    local cut = dataset {
      dataset_reader+: { max_length: max_length },
      validation_dataset_reader: dataset.dataset_reader,
    };
    data.validated(data.lower_case(cut), number=10, batch_size=batch_size) {
      local vectors = self.word_vectors,
      local epochs_per_pass = self.epochs_per_pass,
      word_vectors:: word_vectors,
      model: {
        type: 'siamese_classifier',
        text_field_embedder: embedders.of(vectors),
        embedding_dropout: word_dropout,
        encoder: encoder(vectors.dim, 300, num_layers, bidirectional),
        matcher: matcher,
        classifier: { num_layers: mlp_layers, hidden_size: 1024, dropout: classifier_dropout },
        initializer: initializers.cas_lstm,
        regularizer: { norm_weight: l2_norm },
      },
      trainer: {
        validation_metric: '+accuracy',
        optimizer: { type: 'adam', lr: 0.001 },
        // The schedule reaches zero after 10 passes, and an eleventh follows.
        learning_rate_scheduler: { type: 'cosine_per_batch', t_initial: 10 * epochs_per_pass },
        num_epochs: 11 * 10,
        grad_norm: grad_norm,
      },
    },

  // Section 4.4.3: 300D GloVe vectors that are trained too, a 2-layer encoder, an MLP with one 300D
  // layer, Adadelta with its default learning rate of 1.
  // dropout: tables 4.7 and 4.8 have p_w = p_c.
  sentiment(dataset, hidden_size, bidirectional, dropout, l2_norm):
    data.validated(data.lower_case(dataset), number=2, batch_size=batch_size) {
      local vectors = self.word_vectors,
      word_vectors:: word_vectors { trainable: true },
      model: {
        type: 'sentence_classifier',
        text_field_embedder: embedders.of(vectors),
        embedding_dropout: dropout,
        encoder: encoder(vectors.dim, hidden_size, num_layers=2, bidirectional=bidirectional),
        classifier: { num_layers: 1, hidden_size: 300, dropout: dropout, batch_norm: false },
        initializer: initializers.cas_lstm,
        regularizer: { norm_weight: l2_norm },
      },
      trainer: {
        validation_metric: '+accuracy',
        optimizer: { type: 'adadelta', lr: 1.0 },
        learning_rate_scheduler: schedulers.halve_after(5),
        num_epochs: 51 * 2,
        grad_norm: grad_norm,
      },
    },
}
