// LSTM-vMF-VAE on SNLI, 59k labeled: thesis table 6.1. Published: 68.7 %.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(59000) + cs_lvm.auto_encoder
