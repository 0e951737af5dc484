// Bi-CAS-LSTM, trainable lambda, on SNLI: thesis table 4.11; CAS-LSTM table 6. Published: 86.9 %.
(import 'bi_cas_lstm_3_layers.jsonnet') {
  model+: {
    encoder+: { encoder+: { vertical_weight: 'trainable' } },
    initializer+: {
      regexes: [['_encoder.*vertical_logit', { type: 'normal', std: 0.01 }]] + super.regexes,
    },
  },
}
