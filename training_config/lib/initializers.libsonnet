// Initializers of the thesis, for the models whose parts are `_encoder` and `_classifier`. Biases
// are zero and the embeddings keep their own vectors.
local rest(last_layer) = [
  // He et al. (2015).
  ['_encoder.*weight', { type: 'kaiming_normal' }],
  ['_classifier\\.hidden_layers\\.\\d+\\.0\\.weight', { type: 'kaiming_normal' }],
  ['_classifier\\.output_layer\\.weight', { type: 'uniform', a: -last_layer, b: last_layer }],
  ['(_encoder|_classifier).*bias', { type: 'zero' }],
];

{
  // Section 3.5: all weights as He et al. have them but the last layer's, which are uniform in
  // (-last_layer, last_layer), and the query's, which the encoder draws itself.
  he(last_layer): { regexes: rest(last_layer) },

  // Sections 4.4 and 5.3.1: as above, with recurrent matrices orthogonal, each gate's block alone.
  // hidden_size: the encoder's.
  orthogonal(hidden_size): {
    regexes: [
      [
        '_encoder.*weight_hh',
        { type: 'block_orthogonal', split_sizes: [hidden_size, hidden_size] },
      ],
    ] + rest(0.005),
  },
}
