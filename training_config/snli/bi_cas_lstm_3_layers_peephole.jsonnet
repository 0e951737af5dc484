// Bi-CAS-LSTM, peepholes, on SNLI: thesis table 4.11; CAS-LSTM table 6. Published: 86.5 %.
// The papers do not say how the peephole weights start: as the encoder's others do by default.
(import 'bi_cas_lstm_3_layers.jsonnet') {
  model+: { encoder+: { encoder+: { vertical_gate: 'peephole' } } },
}
