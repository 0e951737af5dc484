// LSTM-vMF-VAE on SNLI, 28k labeled: thesis table 6.1. Published: 65.6 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_auto_encoder(28000)
