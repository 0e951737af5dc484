// The quick start: a classifier of pairs over the sentence encoder in the package, which is trained
// further on 1,170 pairs of everyday sentences (fixtures/quick_start). `make demo` trains it in
// half a minute, or longer on a busy machine.
local num_epochs = 3;

{
  dataset_reader: {
    type: 'sentence_pair',
    format: 'table',
    sentence1: 'sentence1',
    sentence2: 'sentence2',
    label: 'label',
    tokenizer: 'spacy_blank',
    token_indexers: { tokens: { type: 'exported_encoder' } },
  },
  train_data_path: 'fixtures/quick_start/train.tsv',
  validation_data_path: 'fixtures/quick_start/validation.tsv',
  model: {
    type: 'siamese_classifier',
    text_field_embedder: {
      token_embedders: {
        tokens: { type: 'exported_encoder', trainable: true, whole_sentence: true },
      },
    },
    encoder: { type: 'bag_of_embeddings', embedding_dim: 384, averaged: true },
    matcher: 'heuristic',
    classifier: { hidden_size: 256, dropout: 0.2 },
  },
  data_loader: { batch_size: 32, shuffle: true },
  trainer: {
    num_epochs: num_epochs,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 0.001 },
    learning_rate_scheduler: { type: 'cosine', t_initial: num_epochs },
  },
}
