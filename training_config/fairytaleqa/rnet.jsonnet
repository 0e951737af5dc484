// R-NET with a 3-layer BiGRU, FairytaleQA.
local rnet = import '../lib/rnet.libsonnet';

rnet.fairytaleqa(rnet.bigru_3_layers)
