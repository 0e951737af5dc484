// A 2-layer Bi-CAS-LSTM over the frozen all-MiniLM-L6-v2 on SICK.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';

function(transformer=minilm.transformer, size=minilm.size)
  minilm.frozen(
    data.sick(),
    transformer,
    size,
    encoder={ type: 'cas_lstm', num_layers: 2, bidirectional: true },
  )
