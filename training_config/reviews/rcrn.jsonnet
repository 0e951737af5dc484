// RCRN on the reviews of a domain: RCRN table 1. Published: 88.6 % on average over the 16.
// Camera 90.5, Video 88.5, Health 90.5, Music 86.0, Kitchen 86.0, DVD 86.8, Toys 90.8, Baby
// 89.0, Books 88.0, IMDB 89.8, MR 79.0, Apparel 90.5, Magazines 94.8, Electronics 89.0, Sports
// 88.0, Software 90.8.
local data = import '../lib/data.libsonnet';
local rcrn = import '../lib/rcrn.libsonnet';

function(domain='books') rcrn.classification(data.reviews(domain), rcrn.rcrn)
