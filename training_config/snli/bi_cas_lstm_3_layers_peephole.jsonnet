// Bi-CAS-LSTM, peepholes, on SNLI: thesis table 4.11; CAS-LSTM table 6. Published: 86.5 %.
(import 'bi_cas_lstm_3_layers.jsonnet') {
  model+: {
    encoder+: { encoder+: { vertical_gate: 'peephole' } },
    // As in the author's code (docs/readings.md).
    initializer+: {
      regexes: [
        ['_encoder.*peephole', { type: 'normal', std: 0.01 }],
        ['_encoder.*bias_l[1-9]', { type: 'zero' }],
      ] + super.regexes,
    },
  },
}
