// The fine-tuned all-MiniLM-L6-v2 and the matching function ElBiS on SICK.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';

function(transformer=minilm.transformer, size=minilm.size, num_layers=minilm.num_layers)
  minilm.fine_tuned(data.sick(), transformer, size, num_layers, matcher='elbis')
