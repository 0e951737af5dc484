// Gumbel Tree-LSTM with affine leaves on ListOps.
local listops = import '../lib/listops.libsonnet';

listops.tree
