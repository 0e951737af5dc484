// CS-LVM and its baseline on few labels: lambda, kappa and the learning rate. Not from the thesis,
// which gives the best values alone (tables 6.6 and 6.7).
{
  'model.classification_weight': { type: 'float', low: 0.3, high: 30, log: true },
  'model.posterior.concentration': { type: 'categorical', choices: [50, 100, 150] },
  'trainer.optimizer.lr': { type: 'float', low: 0.0005, high: 0.01, log: true },
}
