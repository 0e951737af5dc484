// The fine-tuned all-MiniLM-L6-v2 and a matching function on SICK.
//
// transformer: a name on the Hugging Face Hub, or the folder of a saved transformer.
// size, num_layers: of its vectors, and of it.
local data = import '../lib/data.libsonnet';
local transformers = import '../lib/transformer.libsonnet';

function(transformer='sentence-transformers/all-MiniLM-L6-v2', size=384, num_layers=6)
  local word_pieces = transformers.word_pieces(transformer, train=true);
  data.reading(data.sick(), word_pieces.reader) {
    model: {
      type: 'siamese_classifier',
      text_field_embedder: word_pieces.text_field_embedder,
      encoder: transformers.mean(size),
      matcher: 'heuristic',
      classifier: { hidden_size: 512, batch_norm: false, dropout: 0.1 },
    },
    data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
    trainer: {
      validation_metric: '+accuracy',
      grad_norm: 1.0,
    } + transformers.fine_tuning(
      num_epochs=5,
      lr=1e-4,
      head_lr=1e-3,
      num_layers=num_layers,
      layer_decay=0.9,
    ),
  }
