// RCRN: Tay, Luu and Hui 2018 (arXiv:1811.09786), section 4.2. Where the paper is silent,
// AllenNLP's defaults, 20 epochs among them. Batches are of 32, which is the size that the paper
// names, for its timings; it chooses the learning rate from 0.001, 0.0003 and 0.0004: 0.0004 here.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';

local size = 200;
local bilstm = { type: 'lstm', hidden_size: size, bidirectional: true };

local pooled(encoder, input_size, pooling) = {
  type: 'pooled',
  encoder: encoder { input_size: input_size },
  pooling: pooling,
};

local adam = {
  validation_metric: '+accuracy',
  optimizer: { type: 'adam', lr: 0.0004 },
};

// Answer selection by AP-BiLSTM (dos Santos et al. 2016) with another encoder: cosine scores, a
// hinge loss with margin 0.1, six sampled wrong answers for each right one, Adadelta with 0.2.
// The vectors are GloVe's alone and fixed, which the paper does not say for its rankers; a batch
// has 8 questions, of which few have a right answer. The models without attention max-pool, as dos
// Santos et al. do without theirs.
// questions: those that count in MAP and MRR, 'answered' for WikiQA and 'clean' for TrecQA.
local ranking(dataset, questions, encoder, pooling) = dataset {
  local vectors = self.word_vectors,
  word_vectors:: embedders.glove_840b,
  model: {
    type: 'attentive_ranker',
    text_field_embedder: embedders.of(vectors),
    encoder: encoder { input_size: vectors.dim },
    pooling: pooling,
    margin: 0.1,
    num_negatives: 6,
    questions: questions,
  },
  data_loader: { batch_size: 8, shuffle: true },
  trainer: {
    validation_metric: '+map',
    optimizer: { type: 'adadelta', lr: 0.2 },
  },
};

{
  // The encoders that the tables compare, without the size of the input.
  bilstm: bilstm,
  bilstm_3_layers: bilstm { num_layers: 3 },
  rcrn: { type: 'rcrn', hidden_size: size },

  // Sentiment and questions. Of SST's phrases, those of at least four tokens train, as in the paper
  // of CoVe (McCann et al. 2017); the RCRN paper does not say. It calls a representation of the
  // characters optional here; there is none.
  classification(dataset, encoder): dataset {
    local vectors = self.word_vectors,
    word_vectors:: embedders.glove_and_cove,
    model: {
      type: 'sentence_classifier',
      text_field_embedder: embedders.of(vectors),
      encoder: pooled(encoder, vectors.dim, ['max', 'mean', 'min']),
      classifier: { num_layers: 1, hidden_size: size, batch_norm: false },
    },
    data_loader: { batch_size: 32, shuffle: true },
    trainer: adam,
  },

  // Two sentences through a projection and two highway layers of 300, the encoder, max and mean
  // pooling; [a, b, a * b, a - b] through two highway layers, whose size is not said (300 here),
  // and a linear layer. Nor are the sizes of the representations of characters and tags: 50 and 20.
  entailment(dataset, encoder):
    local highway_size = 300;
    local characters_dim = 50;
    local tags_dim = 20;
    data.characters_and_tags(dataset) {
      local vectors = self.word_vectors,
      word_vectors:: embedders.glove_and_cove,
      model: {
        type: 'siamese_classifier',
        text_field_embedder: embedders.with_characters_and_tags(
          embedders.of(vectors), characters_dim, tags_dim
        ),
        encoder: {
          type: 'pooled',
          encoder: {
            type: 'sequential',
            encoders: [
              {
                type: 'feedforward',
                feedforward: {
                  input_dim: vectors.dim + characters_dim + tags_dim,
                  num_layers: 1,
                  hidden_dims: highway_size,
                  activations: 'linear',
                },
              },
              { type: 'highway', input_size: highway_size, num_layers: 2 },
              encoder { input_size: highway_size },
            ],
          },
          pooling: ['max', 'mean'],
        },
        matcher: { type: 'highway', hidden_size: highway_size, num_layers: 2 },
        classifier: { num_layers: 0, batch_norm: false },
      },
      data_loader: { batch_size: 32, shuffle: true },
      trainer: adam,
    },

  // Section 4.3 adds the attention of Parikh et al. (2016) between the sentences, and does not say
  // how: it reads the encoder's outputs here, in place of pooling and matching, with the sizes of
  // its paper, 200 in two layers of ReLU each.
  attention(dataset, encoder): self.entailment(dataset, encoder) {
    model+: {
      type: 'sentmatch_decomposable_attention',
      encoder: super.encoder.encoder,
      matcher:: null,
      classifier: { num_layers: 2, hidden_size: 200, batch_norm: false },
    },
  },

  // pooling: 'max', or 'attentive' for the AP models.
  wikiqa(encoder, pooling='max'): ranking(data.wikiqa(), 'answered', encoder, pooling),
  // A `ranking` that also adds up the weights of the words that question and candidate share. Not
  // from the paper; the dropout was chosen on TrecQA's development set.
  with_shared_words(ranking): ranking {
    model+: { shared_words: true, embedding_dropout: 0.2 },
  },

  // The paper's "cleaned setting" is that of Rao, He and Lin (2016), who train on TRAIN-ALL.
  trecqa(encoder, pooling='max'): ranking(data.trecqa(), 'clean', encoder, pooling),
}
