// CS-LVM without cross-sentence generation on SNLI, 28k labeled: thesis table 6.3. Published: 65.6 %.
// This row repeats the figures of LSTM-vMF-VAE; here, CS-LVM with auto-encoding is meant.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(28000) + cs_lvm.without_cross_sentence
