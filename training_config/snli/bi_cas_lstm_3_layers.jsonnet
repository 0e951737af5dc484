// 3-layer Bi-CAS-LSTM on SNLI: thesis tables 4.3, 4.11; CAS-LSTM tables 1, 6. Published: 87.0 %.
(import 'bi_cas_lstm.jsonnet') {
  model+: { encoder+: { encoder+: { num_layers: 3 } } },
}
