// BCN with SuBiLSTM-Tied + CoVe on TREC-50: SuBiLSTM table 3. Published: 90.2 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_subilstm_tied.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
