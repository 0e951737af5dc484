// BiLSTM on the reviews of a domain: RCRN table 1. Published: 85.7 % on average over the 16.
// Camera 87.3, Video 87.5, Health 85.5, Music 83.5, Kitchen 81.7, DVD 84.0, Toys 87.5, Baby
// 85.0, Books 86.0, IMDB 86.5, MR 77.7, Apparel 88.0, Magazines 93.7, Electronics 83.5, Sports
// 85.5, Software 88.5.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

function(domain='books') rcrn.classification(data.reviews(domain), rcrn.bilstm)
