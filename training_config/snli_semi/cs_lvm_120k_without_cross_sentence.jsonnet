// CS-LVM without cross-sentence generation on SNLI, 120k labeled: thesis table 6.3. Published: 71.1 %.
// This row repeats the figures of LSTM-vMF-VAE; here, CS-LVM with auto-encoding is meant.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(120000) + cs_lvm.without_cross_sentence
