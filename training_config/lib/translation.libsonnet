// Translation with CAS-LSTM's section 4.4: the sizes of fairseq's lstm_wiseman_iwslt_de_en.
// docs/readings.md lists what the paper leaves open.
local schedulers = import 'schedulers.libsonnet';

local recurrent = {
  lstm: { type: 'lstm' },
  cas_lstm: { type: 'cas_lstm', vertical_weight: 0.5 },
};

{
  // layers: 'lstm' or 'cas_lstm', in the encoder and the decoder.
  // dropout: in the decoder, between its layers and on the attentional vectors.
  model(dataset, layers, hidden_size, dropout): dataset {
    local decoder = recurrent[layers] { hidden_size: hidden_size, num_layers: 2 },

    model: {
      type: 'encoder_decoder',
      source_embedder: {
        token_embedders: {
          tokens: { type: 'embedding', embedding_dim: 256, vocab_namespace: 'source_tokens' },
        },
      },
      encoder: recurrent[layers] { input_size: 256, hidden_size: hidden_size, num_layers: 2 },
      target_embedder: { embedding_dim: 256, vocab_namespace: 'target_tokens' },
      decoder: decoder { dropout: dropout },
      output_size: hidden_size,
      dropout: dropout,
      label_smoothing: 0.1,
      beam_search: {
        beam_size: 10,
        max_steps: 100,
        final_sequence_scorer: { type: 'length-normalized-sequence-log-prob' },
      },
      target_tokenizer: dataset.dataset_reader.target_tokenizer,
      bleu: { lowercase: true },
      initializer: { regexes: [['.*', { type: 'uniform', a: -0.1, b: 0.1 }]] },
    },

    data_loader: { batch_sampler: { type: 'max_tokens_sampler', max_tokens: 4000 } },
    validation_data_loader: { batch_size: 100 },
    trainer: {
      num_epochs: 50,
      patience: 6,
      validation_metric: '+BLEU',
      optimizer: { type: 'adam', lr: 0.001 },
      learning_rate_scheduler: schedulers.halve_after(2),
      grad_norm: 5.0,
      callbacks: ['bleu_signature'],
    },
    include_in_archive: ['bpe.json'],
  },
}
