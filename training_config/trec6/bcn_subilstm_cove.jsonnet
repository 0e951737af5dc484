// BCN with SuBiLSTM + CoVe on TREC-6: SuBiLSTM table 3. Published: 96.0 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_subilstm.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
