// RCRN, section 4.2, classification and entailment: "tuned amongst {0.001, 0.0003, 0.0004}".
{
  'trainer.optimizer.lr': { type: 'categorical', choices: [0.001, 0.0003, 0.0004] },
}
