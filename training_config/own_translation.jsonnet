// Sentences of your own and their translations: 2-layer CAS-LSTMs with attention, over subwords.
//
// train, validation: two aligned files each, which differ in the part in braces, the source first,
// or one file with a tab between a sentence and its translation; here a sample of ten lines.
// source, target: the languages, as Moses abbreviates them.
// bpe: the encoding that `allennlp learn-bpe --lowercase` wrote of the training files.
// bleu: SacreBLEU's tokenization; '13a' is for languages with spaces between words.
// size: the width of embeddings and states.
local own_data = import 'lib/own_data.libsonnet';

function(
  train=null,
  validation=null,
  source='de',
  target='en',
  bpe='out/bpe.json',
  bleu=if target == 'zh' then 'zh' else if target == 'ja' || target == 'th' then 'char' else '13a',
  size=256,
) {
  local files = own_data.files(train, validation, 'fixtures/own_data/translation.{de,en}'),
  local tokenizer(language) = { type: 'bpe', file: bpe, language: language, lowercase: true },
  local cas_lstm = { type: 'cas_lstm', hidden_size: size, num_layers: 2 },

  dataset_reader: {
    type: 'parallel_text',
    source_tokenizer: tokenizer(source),
    target_tokenizer: tokenizer(target),
    max_length: 175,
    skip_incomplete: true,
  },
  validation_dataset_reader: self.dataset_reader { max_length: null },
  train_data_path: files.train,
  validation_data_path: files.validation,
  datasets_for_vocab_creation: ['train'],
  model: {
    type: 'encoder_decoder',
    source_embedder: {
      token_embedders: {
        tokens: { type: 'embedding', embedding_dim: size, vocab_namespace: 'source_tokens' },
      },
    },
    encoder: cas_lstm { input_size: size },
    target_embedder: { embedding_dim: size, vocab_namespace: 'target_tokens' },
    decoder: cas_lstm { dropout: 0.2 },
    dropout: 0.2,
    label_smoothing: 0.1,
    beam_search: {
      beam_size: 5,
      max_steps: 100,
      final_sequence_scorer: { type: 'length-normalized-sequence-log-prob' },
    },
    target_tokenizer: tokenizer(target),
    bleu: { lowercase: true, tokenize: bleu },
    initializer: { regexes: [['.*', { type: 'uniform', a: -0.1, b: 0.1 }]] },
  },
  // Small batches: a few thousand sentences would otherwise give too few steps to learn from.
  data_loader: { batch_sampler: { type: 'max_tokens_sampler', max_tokens: 1000 } },
  validation_data_loader: { batch_size: 100 },
  trainer: {
    num_epochs: 30,
    patience: 8,  // BLEU may be close to 0 in the first epochs
    validation_metric: '+BLEU',
    optimizer: { type: 'adam', lr: 0.001 },
    learning_rate_scheduler: { type: 'reduce_on_plateau', factor: 0.5, patience: 4, mode: 'max' },
    grad_norm: 5.0,
    callbacks: ['bleu_signature'],
  },
  // The archive splits text by itself.
  include_in_archive: [std.reverse(std.split(bpe, '/'))[0]],
}
