// CS-LVM without cross-sentence generation on SNLI, 59k labeled: thesis table 6.3. Published: 68.7 %.
// This row repeats the figures of LSTM-vMF-VAE; here, CS-LVM with auto-encoding is meant.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(59000) + cs_lvm.without_cross_sentence
