// LSTMN: Ersü, "Long Short-Term Memory-Networks for Machine Reading" (a report on Cheng, Dong and
// Lapata 2016, arXiv:1601.06733). 300D GloVe vectors (42B tokens), tapes of 72, Adam. The last
// state goes to a classifier of two layers. docs/readings.md lists what the report leaves open, and
// how the code that made its figures differs from it.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';

local size = 72;
local encoder(type) = { type: type, hidden_size: size };
local word_vectors = embedders.glove_42b { trainable: true };

{
  // The networks that the report compares, without the size of the input. The first two are names
  // of encoders of sentences and of pairs alike.
  lstm: encoder('lstm'),
  lstmn: encoder('lstmn'),
  lstmn_inter_attention: encoder('lstmn_inter_attention') { start_from_premise: true },

  // Section 4.1: the treebank's sentences without its phrases, batches of 5, dropout of 0.5 at each
  // layer of the classifier.
  sentiment(dataset, encoder): data.lower_case(dataset) {
    local vectors = self.word_vectors,
    word_vectors:: word_vectors,
    model: {
      type: 'sentence_classifier',
      text_field_embedder: embedders.of(vectors),
      encoder: {
        type: 'pooled',
        encoder: encoder { input_size: vectors.dim },
        pooling: 'last',
      },
      classifier: { num_layers: 1, hidden_size: size, dropout: 0.5, batch_norm: false },
      regularizer: { regexes: [['^(?!_text_field_embedder)', { type: 'l2', alpha: 1e-4 }]] },
    },
    data_loader: { batch_size: 5, shuffle: true },
    trainer: {
      validation_metric: '+accuracy',
      optimizer: { type: 'adam', lr: 0.002 },
    },
  },

  // Sections 3 and 4.2: two networks; the second one starts where the first one ended.
  // Batches of 32; dropout has the mean of 0.1, 0.2, 0.3 and 0.4.
  pairs(dataset, encoder): data.lower_case(dataset) {
    local dropout = 0.25,
    local vectors = self.word_vectors,
    word_vectors:: word_vectors,
    model: {
      type: 'lstmn_classifier',
      text_field_embedder: embedders.of(vectors),
      encoder: encoder,
      embedding_dropout: dropout,
      classifier: { num_layers: 1, hidden_size: size, dropout: dropout, batch_norm: false },
    },
    data_loader: { batch_size: 32, shuffle: true },
    trainer: {
      validation_metric: '+accuracy',
      optimizer: { type: 'adam', lr: 0.001 },
    },
  },
}
