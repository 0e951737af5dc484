// R-NET (Wang et al. 2017, https://aclanthology.org/P17-1018) with the encoders that RCRN's section
// 4.2 compares: 75 dimensions, Adam with 0.001. The other settings are R-NET's: word vectors that
// stay fixed, a BiGRU over characters, dropout of 0.2. docs/readings.md lists what both leave
// open.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';

local size = 75;

{
  // The encoders of questions and passages, without the size of the input.
  bigru: { type: 'stacked_rnn', cell: 'gru', hidden_size: size, bidirectional: true },
  bigru_3_layers: self.bigru { num_layers: 3 },
  rcrn: { type: 'rcrn', cell: 'gru', hidden_size: size },

  // word_vectors: which the words begin with.
  // characters_dim: of a word's characters, both directions together.
  model(dataset, word_vectors, characters_dim, encoder): dataset {
    local vectors = self.word_vectors,
    word_vectors:: word_vectors,
    model: {
      type: 'rnet',
      text_field_embedder: embedders.with_characters(embedders.of(vectors), characters_dim),
      encoder: encoder { input_size: vectors.dim + characters_dim },
      hidden_size: size,
      dropout: 0.2,
      max_answer_length: 30,
    },
    data_loader: {
      batch_sampler: { type: 'bucket', batch_size: 32, sorting_keys: ['passage'] },
    },
    validation_data_loader: {
      batch_sampler: { type: 'bucket', batch_size: 64, sorting_keys: ['passage'] },
    },
    trainer: {
      num_epochs: 20,
      patience: 4,
      validation_metric: '+rouge_l',
      optimizer: { type: 'adam', lr: 0.001 },
      grad_norm: 5.0,
    },
  },

  // The experiment of RCRN's table 9.
  narrativeqa(encoder): self.model(
    data.characters(data.narrativeqa()),
    embedders.glove_840b { zero_missing: true },
    characters_dim=2 * size,
    encoder=encoder,
  ),

  // Smaller vectors, for a CPU.
  fairytaleqa(encoder): self.model(
    data.characters(data.fairytaleqa(), lowercase_tokens=true),
    embedders.glove_6b_100d,
    characters_dim=50,
    encoder=encoder,
  ),
}
