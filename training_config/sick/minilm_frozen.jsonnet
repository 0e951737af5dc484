// The frozen all-MiniLM-L6-v2 and a matching function on SICK.
//
// transformer: a name on the Hugging Face Hub, or the folder of a saved transformer.
// size: the size of its vectors.
local data = import '../lib/data.libsonnet';
local transformers = import '../lib/transformer.libsonnet';

function(transformer='sentence-transformers/all-MiniLM-L6-v2', size=384)
  local word_pieces = transformers.word_pieces(transformer, train=false);
  data.reading(data.sick(), word_pieces.reader) {
    model: {
      type: 'siamese_classifier',
      text_field_embedder: word_pieces.text_field_embedder,
      encoder: transformers.mean(size),
      matcher: 'heuristic',
      classifier: { hidden_size: 512, dropout: 0.3 },
    },
    data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
    trainer: {
      num_epochs: 12,
      validation_metric: '+accuracy',
      optimizer: { type: 'adam', lr: 0.001 },
      learning_rate_scheduler: { type: 'cosine', t_initial: 12 },
    },
  }
