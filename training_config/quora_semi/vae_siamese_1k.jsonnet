// LSTM-vMF-VAE on Quora, 1k labeled: thesis table 6.2. Published: 65.0 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(1000) + cs_lvm.auto_encoder
