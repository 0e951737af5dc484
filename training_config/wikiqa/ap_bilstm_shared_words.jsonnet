// AP-BiLSTM and the weighted words that question and candidate share, on WikiQA.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.with_shared_words(rcrn.wikiqa(rcrn.bilstm, pooling='attentive'))
