// SuBiLSTM over the frozen all-MiniLM-L6-v2 on the ling_in_loop pairs.
local data = import '../lib/data.libsonnet';
local minilm = import '../lib/minilm.libsonnet';

function(transformer=minilm.transformer, size=minilm.size)
  minilm.frozen(data.ling_in_loop(), transformer, size, encoder={ type: 'subilstm' }, num_epochs=5)
