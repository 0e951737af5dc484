// BCN with BiLSTM + CoVe on SST-2: SuBiLSTM table 3. Published: 90.1 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_bilstm.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
