// R-NET with a 1-layer BiGRU, FairytaleQA.
local rnet = import '../lib/rnet.libsonnet';

rnet.fairytaleqa(rnet.bigru)
