"""The recurrences of the modules of `allennlp_sentmatch.nn`.

Each recurrence has a folder. `gru/` is the template, with a file for each role.

- `recurrence.py`: the function that an encoder calls, and `IMPLEMENTATIONS`, its backends. It calls
  `resolve` once and then `naive.py` or, without padding, the `forward` and the `backward` of a
  backend, which `common.autograd.differentiable` combines into one function.
- `naive.py`: the parameters, and the equations as operations that autograd differentiates. Tests
  compare all backends with it. A step is one function. It runs in a loop over tokens or, for
  `torch.export`, by `common.scan` with tensors of fixed shapes.
- `cpu.py`: the steps and their derivatives, `forward` and `backward`, without any choices. It fills
  a structure, `common.native.Arguments`, with addresses of tables, and calls a function of the C++
  for a step. The tables are in the same file, or in `tables.py` if another backend has them too.
- `eager.py`: the same in operations of torch, if such a backend has a use.

`cas_lstm/layer.py` has the products before and after the steps. SuBiLSTM's steps are cells, in
`eager_cells.py` and `cpu_cells.py`, which `steps.py` runs in the order of `schedule.py`.
`backends.py` decides between the implementations, and between these and torch's own networks.
`common/` has what the folders share, `native/` the C++.

Masks are as in `allennlp_sentmatch.nn`. B sentences have at most T tokens, N in all, and are read
in S directions, left-to-right first. An input has D numbers and a state H, and a cell G gates.
"""
