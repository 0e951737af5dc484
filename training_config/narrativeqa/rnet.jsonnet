// R-NET with a 3-layer BiGRU on NarrativeQA: RCRN table 9. Published: 34.9 / 20.3 / 18.0 / 36.7.
// The figures are BLEU-1, BLEU-4, METEOR and ROUGE-L.
local rnet = import '../lib/rnet.libsonnet';

rnet.narrativeqa(rnet.bigru_3_layers)
