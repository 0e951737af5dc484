// BCN with SuBiLSTM + CoVe on SST-5: SuBiLSTM table 3. Published: 54.5 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_subilstm.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
