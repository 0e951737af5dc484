// Bi-CAS-LSTM, lambda = 0.25, on SNLI: thesis table 4.11; CAS-LSTM table 6. Published: 86.8 %.
(import 'bi_cas_lstm_3_layers.jsonnet') {
  model+: { encoder+: { encoder+: { vertical_weight: 0.25 } } },
}
