// R-NET with RCRN, FairytaleQA.
local rnet = import '../lib/rnet.libsonnet';

rnet.fairytaleqa(rnet.rcrn)
