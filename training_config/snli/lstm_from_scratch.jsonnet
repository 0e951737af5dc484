// LSTM classifier that judges generated pairs, on all of SNLI: thesis table 6.5. Published: 81.7 % on the development set.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli(120000) + cs_lvm.supervised { data_loader: { batch_size: 64, shuffle: true } }
