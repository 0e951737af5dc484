// all-MiniLM-L6-v2 as it is, the mean of its word pieces: an archive to encode sentences with.
//
// transformer: a name on the Hugging Face Hub, or the folder of a saved transformer.
// size: the size of its vectors.
// sentences: any file of sentences; the first one is read, and nothing is learned.
local transformers = import '../lib/transformer.libsonnet';

function(
  transformer='sentence-transformers/all-MiniLM-L6-v2',
  size=384,
  sentences='data/distillation/sentences.txt',
)
  local word_pieces = transformers.word_pieces(transformer, train=false, max_length=256);
  {
    dataset_reader: { type: 'sentence_vectors', max_instances: 1 } + word_pieces.reader,
    train_data_path: { sentences: sentences },
    model: {
      type: 'distilled_encoder',
      text_field_embedder: word_pieces.text_field_embedder,
      encoder: transformers.mean(size),
    },
    data_loader: { batch_size: 1 },
    trainer: { type: 'no_op' },
  }
