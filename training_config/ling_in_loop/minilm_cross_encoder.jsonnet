// The fine-tuned all-MiniLM-L6-v2 as a cross-encoder on the ling_in_loop pairs.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';

function(transformer=minilm.transformer, num_layers=minilm.num_layers)
  minilm.cross_encoder(data.ling_in_loop(), transformer, num_layers, num_epochs=3)
