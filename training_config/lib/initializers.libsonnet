// Initializers of the thesis, for the models whose parts are `_encoder` and `_classifier`. Biases
// are zero but for those named, and the embeddings keep their own vectors.
local rest(last_layer) = [
  // He et al. (2015).
  ['_encoder.*weight', { type: 'kaiming_normal' }],
  ['_classifier\\.hidden_layers\\.\\d+\\.0\\.weight', { type: 'kaiming_normal' }],
  ['_classifier\\.output_layer\\.weight', { type: 'uniform', a: -last_layer, b: last_layer }],
  ['(_encoder|_classifier).*bias', { type: 'zero' }],
];

// Biases of the gates: 1 for forget gates.
local gates(values) = { type: 'block_constant', values: values };

{
  // Chapter 3, as in the author's code (docs/readings.md). leaf: 'lstm' or 'affine'; the last
  // layer's weights are uniform in (-last_layer, last_layer). The encoder draws the query itself.
  gumbel_tree_lstm(leaf, last_layer): {
    regexes: (
      if leaf == 'affine' then []
      else [
        ['_encoder.*leaf.weight_hh', { type: 'orthogonal' }],
        ['_encoder.*leaf.bias_ih', gates([0, 1, 0, 0])],
      ]
    ) + [['_encoder.*composition.bias', gates([0, 1, 1, 0, 0])]] + rest(last_layer),
  },

  // Chapter 4, as in the author's code (docs/readings.md).
  cas_lstm: {
    regexes: [
      ['_encoder.*weight_(hh|ih_l[1-9])', { type: 'orthogonal' }],
      ['_encoder.*bias_l0', gates([0, 1, 0, 0])],
      ['_encoder.*bias_l[1-9]', gates([0, 1, 0, 0, 1])],
    ] + rest(0.005),
  },

  // Section 5.3.1: weights as He et al. have them, with recurrent matrices orthogonal, each gate's
  // block alone. hidden_size: the encoder's.
  orthogonal(hidden_size): {
    regexes: [
      [
        '_encoder.*weight_hh',
        { type: 'block_orthogonal', split_sizes: [hidden_size, hidden_size] },
      ],
    ] + rest(0.005),
  },
}
