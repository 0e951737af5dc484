// SICK from scratch: no pretrained vectors, one recipe for every encoder, so that their figures can
// be compared. Not from a paper; chosen on the trial set with a 2-layer CAS-LSTM.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';

local size = 200;
local num_epochs = 20;

{
  size: size,

  // `encoder`: a Seq2SeqEncoder whose input and hidden sizes are `size`, to be max-pooled.
  pooled(encoder): { type: 'pooled', encoder: encoder, pooling: 'max' },

  // `encoder`: a Seq2VecEncoder.
  siamese(encoder): data.sick() {
    model: {
      type: 'siamese_classifier',
      text_field_embedder: embedders.random(size),
      embedding_dropout: 0.3,
      encoder: encoder,
      matcher: 'heuristic',
      classifier: { num_layers: 1, hidden_size: 512, dropout: 0.3 },
    },
    data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
    trainer: {
      num_epochs: num_epochs,
      validation_metric: '+accuracy',
      optimizer: { type: 'adam', lr: 0.001 },
      learning_rate_scheduler: { type: 'cosine', t_initial: num_epochs },
    },
  },
}
