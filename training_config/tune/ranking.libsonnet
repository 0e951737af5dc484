// Rankers: the optimizer of RCRN's section 4.2 and Adam, the dropout of word vectors, and the
// weights of shared words, which are not from the paper. The configuration needs values of the
// latter two.
{
  optimizer: {
    type: 'categorical',
    choices: {
      'Adadelta, 0.2': { 'trainer.optimizer': { type: 'adadelta', lr: 0.2 } },
      'Adam, 0.001': { 'trainer.optimizer': { type: 'adam', lr: 0.001 } },
    },
  },
  'model.embedding_dropout': { type: 'categorical', choices: [0.0, 0.2] },
  'model.shared_words': { type: 'categorical', choices: [false, true] },
}
