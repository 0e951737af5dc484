// BCN with 2-layer BiLSTM + CoVe on TREC-6: SuBiLSTM table 3. Published: 95.8 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_bilstm_2_layers.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
