// Sentence pairs from scratch: no pretrained vectors, and one recipe for every encoder, so that their
// figures can be compared. Not from a paper; chosen on SICK's trial set with the 2-layer Bi-CAS-LSTM.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local tasks = import 'tasks.libsonnet';

local num_epochs = 12;

{
  embedding_dim: 200,
  hidden_size: 150,  // of each direction

  // `encoder`: a Seq2SeqEncoder without its sizes, to be max-pooled.
  pooled(encoder): {
    type: 'pooled',
    encoder: { input_size: $.embedding_dim, hidden_size: $.hidden_size } + encoder,
    pooling: 'max',
  },

  // `encoder`: a Seq2VecEncoder. `task`: of lib/tasks.libsonnet.
  siamese(dataset, encoder, task=tasks.labels): data.lower_case(dataset) {
    model: task.siamese('heuristic', { num_layers: 1, hidden_size: 512 }) {
      text_field_embedder: embedders.random($.embedding_dim),
      encoder: encoder,
    },
    data_loader: { batch_sampler: { type: 'bucket', batch_size: 64 } },
    trainer: {
      num_epochs: num_epochs,
      validation_metric: task.metric,
      optimizer: { type: 'adam', lr: 0.001 },
      learning_rate_scheduler: { type: 'cosine', t_initial: num_epochs },
    },
  },
}
