// AP-BiLSTM and the weighted words that question and candidate share, on TrecQA.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.with_shared_words(rcrn.trecqa(rcrn.bilstm, pooling='attentive'))
