// Bi-CAS-LSTM, no lambda, on SNLI: thesis table 4.11; CAS-LSTM table 6. Published: 86.6 %.
(import 'bi_cas_lstm_3_layers.jsonnet') {
  model+: { encoder+: { encoder+: { vertical_weight: null } } },
}
