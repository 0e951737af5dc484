// 3-layer Bi-CAS-LSTM on MultiNLI: thesis table 4.4; CAS-LSTM table 2. Published: 74.2 / 73.4 %.
function(validation='matched') (import 'bi_cas_lstm.jsonnet')(validation) {
  model+: { encoder+: { encoder+: { num_layers: 3 } } },
}
