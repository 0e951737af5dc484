// The fine-tuned all-MiniLM-L6-v2 and the cosine of its vectors on STS Benchmark.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';
local tasks = import '../lib/tasks.libsonnet';

function(transformer=minilm.transformer, size=minilm.size, num_layers=minilm.num_layers)
  minilm.fine_tuned(
    data.stsb(),
    transformer,
    size,
    num_layers,
    task=tasks.scores(0, 5),
    matcher=null,
  )
