"""The recurrences that the modules of `allennlp_sentmatch.nn` are made of.

An encoder calls one function, which decides once which implementation runs:

- CAS-LSTM and the LSTMs: `lstm/recurrence.py`, `lstm_recurrence`, which runs `lstm/layer.py` for
  each layer
- LSTMN: `lstmn/recurrence.py`, `lstmn_recurrence`
- SuBiLSTM: `suffix/recurrence.py`, `suffix_recurrence`
- Gumbel Tree-LSTM: `tree/recurrence.py`, `tree_recurrence`
- RCRN: `controlled/recurrence.py`, `controlled_recurrence`
- torch's GRUs: `gru/recurrence.py`, `gru_recurrence`, a layer
- R-NET's gated matching: `gated_matching/recurrence.py`, `gated_matching_recurrence`
- R-NET's self-matching, which has no recurrence: `self_attention/scores.py`, `additive_scores`

`backends.py` has the names of the implementations and decides between them, `common/` has what the
folders share, `native/` the C++. A file of a folder has one of these roles; `controlled/` has the
fewest files.

- `recurrence.py`: the function that an encoder calls, and `IMPLEMENTATIONS`, the backends that it
  has. It calls `resolve` and then `naive.py`, `scanned.py` or, without autocast and mostly without
  padding, an `autograd.Function`. That is the same for all other backends but for the steps, which
  it takes from the table `STEPS`. In `lstm/`, the function and the table are in `layer.py`.
- `naive.py`: the equations, token by token, as operations that autograd differentiates. Tests
  compare all backends with it.
- `scanned.py`: the equations with tensors of fixed shapes, for `torch.export`. Without this file,
  `naive.py` has such tensors already.
- `eager.py`, `cpu.py`, `gpu.py`: the steps of a backend, `forward` and `backward`, and nothing that
  decides. `cpu.py` binds tables to the C++ once, by `common.native_tables.address`, which checks
  them; then a step is a call with a few numbers.
- `weights.py`: the parameters as the function takes them. `tables.py`: the tensors that steps read
  and write, and their gradients, as named tuples with shapes.

Some recurrences need more. `suffix/schedule.py` orders the steps, and `suffix/steps.py` runs them
for a cell, which is what `eager.py` and `cpu.py` contain there. In `tree/`, `cell.py` is the cell,
`choices.py` chooses pairs to merge, the backward passes have files of their own
(`eager_gradient.py`, `cpu_gradient.py`), `derivatives.py` has the cell's derivatives, and
`choice_gradient.py` is the gradient through sampled choices.
"""
