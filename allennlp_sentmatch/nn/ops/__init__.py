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
  has. It calls `resolve` and then `naive.py` or, mostly without padding, the `forward` and the
  `backward` of a backend, of which `common.autograd.differentiable` makes one function.
- `naive.py`: the parameters, and the equations as operations that autograd differentiates. Tests
  compare all backends with it. A step is one function. It runs in a loop over tokens or, for
  `torch.export`, by `common.scan` with tensors of fixed shapes.
- `eager.py`, `cpu.py`: the steps of a backend and the tables that they read and write,
  `forward` and `backward`, and nothing that decides. `cpu.py` fills a structure,
  `common.native.Arguments`, with the addresses of tables, and calls a function of the C++ for each
  step.

Some recurrences need more. `cas_lstm/layer.py` has what its backends share, and
`subilstm/schedule.py` orders the steps, which `subilstm/steps.py` runs for a cell of `eager.py` or
`cpu.py`.
"""
