"""The recurrences that the modules of `allennlp_sentmatch.nn` are made of.

An encoder calls one function, which decides once which implementation runs:

- CAS-LSTM and the LSTMs: `cas_lstm/recurrence.py`, `lstm_recurrence`, which runs
  `cas_lstm/layer.py` for each layer
- LSTMN: `lstmn/recurrence.py`, `lstmn_recurrence`
- SuBiLSTM: `subilstm/recurrence.py`, `suffix_recurrence`
- Gumbel Tree-LSTM: `gumbel_tree_lstm/recurrence.py`, `tree_recurrence`
- RCRN: `rcrn/recurrence.py`, `controlled_recurrence`
- torch's GRUs: `gru/recurrence.py`, `gru_recurrence`, a layer

`backends.py` has the names of the implementations and decides between them, also between these and
torch's own networks. `common/` has what the folders share, `native/` the C++. A file of a folder
has one of these roles; `rcrn/` has the fewest files.

- `recurrence.py`: the function that an encoder calls, and `IMPLEMENTATIONS`, the backends that it
  has. It calls `resolve` and then `naive.py` or, without autocast and mostly without padding, an
  `autograd.Function`, which runs the steps of the backend.
- `naive.py`: the equations as operations that autograd differentiates. Tests compare all backends
  with it. A step is one function. It runs in a loop over tokens or, for `torch.export`, by
  `common.scan` with tensors of fixed shapes.
- `eager.py`, `cpu.py`, `gpu.py`: the steps of a backend, `forward` and `backward`, and nothing that
  decides. `cpu.py` fills a structure, `common.native.Arguments`, with the addresses of tables that
  `common.native` has checked, and calls a function of the C++ for each step.
- `weights.py`: the parameters as the function takes them. `tables.py`: the tensors that steps read
  and write, and their gradients, as named tuples with shapes.

Some recurrences need more. `subilstm/schedule.py` orders the steps, and `subilstm/steps.py` runs
them for a cell, which is what `eager.py` and `cpu.py` contain there. In `gumbel_tree_lstm/`,
`cell.py` is the cell, `choices.py` chooses pairs to merge, and the backward pass has a file of its
own, `cpu_gradient.py`.
"""
