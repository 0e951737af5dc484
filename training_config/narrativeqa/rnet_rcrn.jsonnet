// R-NET with RCRN on NarrativeQA: RCRN table 9. Published: 38.1 / 21.8 / 18.1 / 38.3.
// The figures are BLEU-1, BLEU-4, METEOR and ROUGE-L.
local rnet = import '../lib/rnet.libsonnet';

rnet.narrativeqa(rnet.rcrn)
