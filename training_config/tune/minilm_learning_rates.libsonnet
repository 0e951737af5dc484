// Fine-tuning all-MiniLM-L6-v2 as in lib/minilm.libsonnet: the learning rates of the last layer (the
// rates of lower layers are proportional to it) and of the head. Not from a paper.
local minilm = import '../lib/minilm.libsonnet';

local optimizer(lr, head_lr) =
  minilm.recipe(minilm.num_layers, num_epochs=4, lr=lr, head_lr=head_lr).optimizer;

{
  'learning rates': {
    type: 'categorical',
    choices: {
      ['%g, head %g' % [lr, head_lr]]: { 'trainer.optimizer': optimizer(lr, head_lr) }
      for lr in [3e-5, 1e-4, 3e-4]
      for head_lr in [3e-4, 1e-3]
    },
  },
}
