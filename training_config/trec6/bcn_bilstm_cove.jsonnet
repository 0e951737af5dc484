// BCN with BiLSTM + CoVe on TREC-6: SuBiLSTM table 3. Published: 95.8 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_bilstm.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
