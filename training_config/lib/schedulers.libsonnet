// Learning rate schedulers.
{
  // Halves the learning rate after as many validations in a row without a higher metric.
  halve_after(validations): {
    type: 'reduce_on_plateau',
    mode: 'max',
    factor: 0.5,
    patience: validations - 1,
  },
}
