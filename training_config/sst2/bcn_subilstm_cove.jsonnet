// BCN with SuBiLSTM + CoVe on SST-2: SuBiLSTM table 3. Published: 91.0 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_subilstm.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
