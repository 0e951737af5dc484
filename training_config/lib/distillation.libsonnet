// Recurrent sentence encoders that learn the vectors of a transformer (docs/distillation.md). Not
// from a paper; the sizes are chosen to be about ten times as fast as all-MiniLM-L6-v2 on a CPU.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';

local num_epochs = 5;

{
  // encoder: a Seq2SeqEncoder without its `input_size`. size: the teacher's vectors'.
  student(encoder, size=384): data.lower_case({
    dataset_reader: { type: 'sentence_vectors' },
    train_data_path: data.distillation { folds: { number: 60, drop: [0], by: 'line' } },
    validation_data_path: data.distillation { folds: { number: 60, keep: [0], by: 'line' } },
  }) {
    local vectors = self.word_vectors,
    word_vectors:: embedders.teacher_words { trainable: true },
    // All words that have a vector, whether or not they are in the sentences learned from.
    vocabulary: {
      pretrained_files: { tokens: vectors.file },
      min_pretrained_embeddings: { tokens: 400000 },
      min_count: { tokens: 2 },
    },
    model: {
      type: 'distilled_encoder',
      text_field_embedder: embedders.of(vectors),
      encoder: {
        type: 'pooled',
        encoder: { input_size: vectors.dim } + encoder,
        pooling: ['mean', 'max'],
      },
      projection_size: size,
      cosine_weight: 1.0,
      similarity_weight: 4.0,
      embedding_dropout: 0.1,
    },
    data_loader: {
      batch_sampler: { type: 'bucket', batch_size: 128, sorting_keys: ['tokens'] },
    },
    trainer: {
      num_epochs: num_epochs,
      validation_metric: '+mean_cosine',
      grad_norm: 1.0,
      optimizer: { type: 'fused_adam', lr: 0.002 },
      learning_rate_scheduler: { type: 'slanted_triangular', cut_frac: 0.05 },
    },
  },
}
