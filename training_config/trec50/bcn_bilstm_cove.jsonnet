// BCN with BiLSTM + CoVe on TREC-50: SuBiLSTM table 3. Published: 90.0 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_bilstm.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
