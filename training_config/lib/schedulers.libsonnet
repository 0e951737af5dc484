// Learning rate schedulers.
{
  // Halves the learning rate after as many epochs in a row without a better accuracy.
  halve_after(epochs): {
    type: 'reduce_on_plateau',
    mode: 'max',
    factor: 0.5,
    patience: epochs - 1,
  },
}
