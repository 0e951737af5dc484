// SuBiLSTM over the frozen all-MiniLM-L6-v2 on MSRP.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';

function(transformer=minilm.transformer, size=minilm.size)
  minilm.frozen(data.msrp(), transformer, size, encoder={ type: 'subilstm' })
