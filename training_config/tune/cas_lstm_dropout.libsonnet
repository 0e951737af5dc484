// CAS-LSTM: the drop probabilities of tables 4.1 and 4.2 of the thesis, of word vectors (p_w) and
// of the MLP (p_c). The configuration needs values of both.
{
  'model.embedding_dropout': { type: 'categorical', choices: [0.10, 0.15] },
  'model.classifier.dropout': { type: 'categorical', choices: [0.10, 0.15, 0.20] },
}
