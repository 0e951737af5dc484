// Initializers of the papers, for the `initializer.regexes` of a model.
{
  // Thesis section 4.4: recurrent matrices orthogonal (each gate's block by itself), all other
  // matrices He et al. (2015), the last layer uniform, biases zero.
  // `hidden_size` is that of the encoder; the embeddings keep their own vectors.
  thesis(hidden_size): {
    regexes: [
      [
        '_encoder.*weight_hh',
        { type: 'block_orthogonal', split_sizes: [hidden_size, hidden_size] },
      ],
      ['_encoder.*weight_ih', { type: 'kaiming_normal' }],
      ['_classifier\\.hidden_layers.*\\.0\\.weight', { type: 'kaiming_normal' }],
      ['_classifier\\.output_layer\\.weight', { type: 'uniform', a: -0.005, b: 0.005 }],
      ['(_encoder|_classifier).*bias', { type: 'zero' }],
    ],
  },
}
