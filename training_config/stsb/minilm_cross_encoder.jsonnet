// The fine-tuned all-MiniLM-L6-v2 as a cross-encoder on STS Benchmark.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';
local tasks = import '../lib/tasks.libsonnet';

function(transformer=minilm.transformer, num_layers=minilm.num_layers)
  minilm.cross_encoder(data.stsb(), transformer, num_layers, task=tasks.scores(0, 5))
