// ListOps: sequences of operations on digits, whose labels need the sequence's tree. One recipe for
// every encoder, not from a paper. The leaves of the tree model are affine, so that only its trees
// know the order of the tokens.
local data = import 'data.libsonnet';
local embedders = import 'embedders.libsonnet';

local num_epochs = 12;
local word_size = 64;
local hidden_size = 128;

local sized(encoder) = encoder { input_size: word_size, hidden_size: hidden_size };

local classifier(encoder) = data.listops() {
  model: {
    type: 'sentence_classifier',
    text_field_embedder: embedders.random(word_size),
    encoder: encoder,
    classifier: { num_layers: 1, hidden_size: hidden_size, batch_norm: false },
  },
  data_loader: { batch_sampler: { type: 'bucket', batch_size: 64 } },
  trainer: {
    num_epochs: num_epochs,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 0.001 },
    learning_rate_scheduler: { type: 'cosine', t_initial: num_epochs },
    grad_norm: 5.0,
  },
};

{
  tree: classifier(sized({ type: 'gumbel_tree_lstm', leaf: 'affine' })),

  // The last state of a Seq2SeqEncoder, given without its sizes.
  last_state(encoder): classifier({ type: 'pooled', encoder: sized(encoder), pooling: 'last' }),
}
