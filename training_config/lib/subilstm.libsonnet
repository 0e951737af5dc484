// SuBiLSTM: Brahma 2018 (arXiv:1805.07340). docs/readings.md lists what the paper leaves open, here
// and in what it takes from InferSent, BCN and ESIM.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local schedulers = import 'schedulers.libsonnet';

local bilstm = { type: 'lstm', bidirectional: true };

{
  // The encoders that the tables compare, without the sizes. The tied encoder is the paper's
  // SuBiLSTM-Tied.
  bilstm: bilstm,
  bilstm_2_layers: bilstm { num_layers: 2 },
  subilstm: { type: 'subilstm', tied: false },
  subilstm_tied: { type: 'subilstm', tied: true },

  // Table 2: sentence vectors trained as InferSent's (Conneau et al. 2017), to be measured by
  // `allennlp transfer`. Max-pooling, fixed vectors, two layers of 512; SGD with 0.1, times 0.99
  // after each epoch, divided by 5 after an epoch without a better validation accuracy, until it is
  // below 1e-5; gradients clipped to norm 5, batches of 64, at most 20 epochs.
  //
  // num_words: the vocabulary has this many of the file's first words too, so that the vectors know
  // more words than the training data have.
  infersent(
    dataset,
    encoder,
    word_vectors=embedders.glove_840b,
    size=2048,
    num_words=400000,
    tokenizer={ type: 'spacy_blank', start_tokens: ['<s>'], end_tokens: ['</s>'] },
  ):
    data.reading(dataset, { tokenizer: tokenizer }) {
      local vectors = self.word_vectors,
      word_vectors:: word_vectors,
      vocabulary: {
        pretrained_files: { tokens: vectors.file },
        min_pretrained_embeddings: { tokens: num_words },
      },
      model: {
        type: 'siamese_classifier',
        text_field_embedder: embedders.of(vectors),
        encoder: {
          type: 'pooled',
          encoder: encoder { input_size: vectors.dim, hidden_size: size },
          pooling: 'max',
        },
        matcher: 'heuristic',
        classifier: {
          num_layers: 2,
          hidden_size: 512,
          batch_norm: false,
          activation: 'linear',
        },
      },
      data_loader: { batch_size: 64, shuffle: true },
      trainer: {
        num_epochs: 20,
        validation_metric: '+accuracy',
        grad_norm: 5.0,
        optimizer: { type: 'sgd', lr: 0.1 },
        learning_rate_scheduler: { type: 'infersent', decay: 0.99, shrink: 5.0 },
        callbacks: [{ type: 'minimum_learning_rate', minimum: 1e-5 }],
      },
    },

  // The same at the size that a CPU allows: 512 units a direction, and sentences of similar length
  // in a batch, which has less padding. Not from the paper.
  infersent_small(dataset, encoder):
    $.infersent(
      data.lower_case(dataset),
      encoder,
      embedders.glove_6b_100d,
      size=512,
      tokenizer='spacy_blank',
    ) {
      data_loader: { batch_sampler: { type: 'bucket', batch_size: 64 } },
    },

  // Table 3: a biattentive classification network (McCann et al. 2017, with its 300D layers) in
  // which the first encoder is replaced, fixed vectors, Adam with 0.001 and weight decay.
  bcn(dataset, encoder):
    local size = 300;
    dataset {
      local vectors = self.word_vectors,
      word_vectors:: embedders.glove_840b,
      model: {
        type: 'sentmatch_bcn',
        text_field_embedder: embedders.of(vectors),
        embedding_dropout: 0.25,
        encoder: encoder { input_size: size, hidden_size: size },
        integrator: bilstm { input_size: 3 * 2 * size, hidden_size: size },
        integrator_dropout: 0.25,
        reduction_factors: [4, 2],
      },
      data_loader: { batch_size: 64, shuffle: true },
      trainer: {
        validation_metric: '+accuracy',
        optimizer: { type: 'adam', lr: 0.001, weight_decay: 1e-5 },
      },
    },

  // Table 4: ESIM trained as by Chen et al. (2017), the first encoder replaced: 300D GloVe vectors
  // that are trained too, 300D layers, dropout of 0.5, Adam with 0.0004, batches of 32. As in their
  // code, gradients are clipped to norm 10, the learning rate is halved after each epoch with a
  // worse accuracy, and training ends when it has been halved eight times.
  esim(dataset, encoder):
    local size = 300;
    local dropout = 0.5;
    local lr = 0.0004;
    dataset {
      local vectors = self.word_vectors,
      word_vectors:: embedders.glove_840b { trainable: true },
      model: {
        type: 'sentmatch_esim',
        text_field_embedder: embedders.of(vectors),
        encoder: encoder { input_size: vectors.dim, hidden_size: size },
        inference_encoder: bilstm { input_size: size, hidden_size: size },
        classifier: {
          hidden_size: size,
          activation: 'tanh',
          dropout: dropout,
          batch_norm: false,
        },
        dropout: dropout,
      },
      data_loader: { batch_size: 32, shuffle: true },
      trainer: {
        num_epochs: 5000,
        validation_metric: '+accuracy',
        grad_norm: 10.0,
        optimizer: { type: 'adam', lr: lr },
        // An accuracy that equals the best one is not worse.
        learning_rate_scheduler: schedulers.halve_after(1) {
          threshold_mode: 'abs',
          threshold: -1e-9,
        },
        callbacks: [{ type: 'minimum_learning_rate', minimum: lr / std.pow(2, 7.5) }],
      },
    },

  // Table 5: a siamese network with max-pooling, 300D GloVe vectors that are trained too, encoders
  // and one fully connected layer of 600, dropout on the vectors and after this layer, Adam with
  // 0.001.
  siamese(dataset, encoder):
    local size = 600;
    local dropout = 0.1;
    dataset {
      local vectors = self.word_vectors,
      word_vectors:: embedders.glove_840b { trainable: true },
      model: {
        type: 'siamese_classifier',
        text_field_embedder: embedders.of(vectors),
        embedding_dropout: dropout,
        encoder: {
          type: 'pooled',
          encoder: encoder { input_size: vectors.dim, hidden_size: size },
          pooling: 'max',
        },
        matcher: 'heuristic',
        classifier: {
          num_layers: 1,
          hidden_size: size,
          hidden_dropout: dropout,
          batch_norm: false,
        },
      },
      data_loader: { batch_size: 64, shuffle: true },
      trainer: {
        validation_metric: '+accuracy',
        optimizer: { type: 'adam', lr: 0.001 },
      },
    },
}
