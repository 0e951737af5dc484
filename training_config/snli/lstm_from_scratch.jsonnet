// LSTM classifier on all of SNLI, from scratch: thesis section 6.4.1; thesis table 6.5. Published: 81.5 %, 81.7 % on the development set.
// Table 6.5 judges generated pairs with it.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli('all') + cs_lvm.supervised + cs_lvm.all_labeled {
  model+: { embedding_dropout: 0.25 },  // from the author's code
}
