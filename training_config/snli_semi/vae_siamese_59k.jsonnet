// LSTM-vMF-VAE on SNLI, 59k labeled: thesis table 6.1. Published: 68.7 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_auto_encoder(59000)
