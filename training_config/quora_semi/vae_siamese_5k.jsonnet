// LSTM-vMF-VAE on Quora, 5k labeled: thesis table 6.2. Published: 69.9 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(5000) + cs_lvm.auto_encoder
