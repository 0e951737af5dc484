// LSTM-vMF-VAE on Quora, 10k labeled: thesis table 6.2. Published: 72.1 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.quora(10000) + cs_lvm.auto_encoder
