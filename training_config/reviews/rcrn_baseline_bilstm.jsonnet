// BiLSTM on the reviews of a domain: RCRN table 1. Published: 85.7 % on average over the 16.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

function(domain='books') rcrn.classification(data.reviews(domain), rcrn.bilstm)
