// AP-BiLSTM that is told which words question and candidate share, on TrecQA.
local rcrn = import '../lib/rcrn.libsonnet';

rcrn.marking_shared_words(rcrn.trecqa(rcrn.bilstm, pooling='attentive'))
