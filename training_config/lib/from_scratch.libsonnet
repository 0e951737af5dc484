// Sentence pairs from scratch: no pretrained vectors, and one recipe for every encoder, so that
// their figures can be compared. Not from a paper; chosen on SICK's trial set with the 2-layer
// Bi-CAS-LSTM.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';
local tasks = import 'tasks.libsonnet';

local num_epochs = 12;
local hidden_size = 150;  // of each direction

{
  // encoder: without its sizes; a Seq2SeqEncoder to be max-pooled, or, without pooling, a
  // Seq2VecEncoder. task: of lib/tasks.libsonnet.
  siamese(dataset, encoder, task=tasks.labels, pooling='max'): data.lower_case(dataset) {
    local vectors = self.word_vectors,
    local sized = encoder { input_size: vectors.dim, hidden_size: hidden_size },
    word_vectors:: embedders.from_scratch(200),
    model: task.siamese('heuristic', { num_layers: 1, hidden_size: 512 }) {
      text_field_embedder: embedders.of(vectors),
      encoder:
        if pooling == null then sized
        else { type: 'pooled', encoder: sized, pooling: pooling },
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
