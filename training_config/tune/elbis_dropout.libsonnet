// ElBiS, thesis section 5.3.1: one drop probability, of word vectors and of the MLP, "selected from
// {0.10, 0.15, 0.20}". The configuration needs values of both.
{
  dropout: {
    type: 'categorical',
    choices: {
      ['%.2f' % p]: { 'model.embedding_dropout': p, 'model.classifier.dropout': p }
      for p in [0.10, 0.15, 0.20]
    },
  },
}
