// Pairs of your own, read by one fine-tuned transformer together: a cross-encoder.
//
// train, validation: the files, here a sample of ten lines.
// sentence1, sentence2, label: their columns.
// transformer: a name on the Hugging Face Hub, or the folder of a saved transformer.
// max_length: the number of word pieces to which a pair is cut, the longer sentence first.
local own_data = import 'lib/own_data.libsonnet';

function(
  train=null,
  validation=null,
  sentence1='text_a',
  sentence2='text_b',
  label='same',
  transformer='sentence-transformers/all-MiniLM-L6-v2',
  max_length=256,
) {
  local files = own_data.files(train, validation, 'fixtures/own_data/pairs.tsv'),
  local type = 'pretrained_transformer',

  dataset_reader: {
    type: 'sentence_pair',
    format: 'table',
    sentence1: sentence1,
    sentence2: sentence2,
    label: label,
    combine_input_fields: true,
    max_length: max_length,
    tokenizer: { type: type, model_name: transformer },
    token_indexers: { tokens: { type: type, model_name: transformer } },
  },
  train_data_path: files.train,
  validation_data_path: files.validation,
  model: {
    type: 'cross_encoder',
    text_field_embedder: {
      token_embedders: {
        tokens: { type: type, model_name: transformer, train_parameters: true },
      },
    },
  },
  data_loader: { batch_sampler: { type: 'bucket', batch_size: 32 } },
  trainer: {
    num_epochs: 4,
    validation_metric: '+accuracy',
    optimizer: {
      type: 'fused_adamw',
      lr: 5e-5,
      weight_decay: 0.01,
      parameter_groups: [[['^(?!.*transformer_model\\.)'], { lr: 1e-3 }]],
    },
    learning_rate_scheduler: { type: 'slanted_triangular', cut_frac: 0.1 },
    grad_norm: 1.0,
    // Embeddings are half of a small transformer, and nothing reads its pooling layer.
    no_grad: ['transformer_model\\.(embeddings|pooler)\\.'],
  },
}
