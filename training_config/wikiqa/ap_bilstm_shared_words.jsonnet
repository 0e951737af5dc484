// AP-BiLSTM that is told which words question and candidate share, on WikiQA.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.marking_shared_words(rcrn.wikiqa(rcrn.bilstm, pooling='attentive'))
