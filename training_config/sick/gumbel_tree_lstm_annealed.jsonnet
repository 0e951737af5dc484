// Gumbel Tree-LSTM as in gumbel_tree_lstm.jsonnet, its temperature annealed, on SICK, from scratch.
//
// The schedule of the authors' code, max(0.5, exp(-r t)) every N updates t. They do not say r and N.
// Here the temperature falls after each of the 12 epochs of 71 updates, to 0.5 at the end.
local configuration = import 'gumbel_tree_lstm.jsonnet';
local updates = 71;

configuration {
  trainer+: {
    callbacks: [{
      type: 'gumbel_temperature',
      schedule: 'exponential',
      rate: std.log(2) / (updates * configuration.trainer.num_epochs),
      every: updates,
    }],
  },
}
