// LSTM-vMF-VAE on SNLI, 120k labeled: thesis table 6.1. Published: 71.1 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_auto_encoder(120000)
