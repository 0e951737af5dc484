// BCN with SuBiLSTM-Tied + CoVe on SST-2: SuBiLSTM table 3. Published: 91.2 %.
local embedders = import '../lib/embedders.libsonnet';

(import 'bcn_subilstm_tied.jsonnet') {
  word_vectors:: embedders.glove_and_cove,
}
