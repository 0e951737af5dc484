// The frozen all-MiniLM-L6-v2 and the matching function ElBiS on STS Benchmark.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';
local tasks = import '../lib/tasks.libsonnet';

function(transformer=minilm.transformer, size=minilm.size)
  minilm.frozen(data.stsb(), transformer, size, task=tasks.scores(0, 5), matcher='elbis')
