// BCN with BiLSTM + CoVe on SST-5: SuBiLSTM table 3. Published: 53.6 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_bilstm.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
