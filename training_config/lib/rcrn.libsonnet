// RCRN: Tay, Luu and Hui 2018 (arXiv:1811.09786), section 4.2. docs/readings.md lists what the paper
// leaves open.
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
// hinge loss with margin 0.1, of six sampled wrong answers for each right one the one with the
// highest score, Adadelta with 0.2.
// questions: the ones that count in MAP and MRR, 'answered' for WikiQA and 'clean' for TrecQA.
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
    hardest_negative: true,
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

  // Sentiment and questions.
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
  // pooling; [a, b, a * b, a - b] through two highway layers and a linear layer.
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

  // Section 4.3: with the attention of Parikh et al. (2016) between the sentences.
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

  trecqa(encoder, pooling='max'): ranking(data.trecqa(), 'clean', encoder, pooling),
}
