"""The recurrences that the modules of `allennlp_sentmatch.nn` are made of.

Each has a folder: `lstm` (also CAS-LSTM's), `lstmn`, `suffix`, `tree`, `controlled` and
`gated_matching`; so does `self_attention`, which is not a recurrence. `common` is what the folders
share, `native` the C++, and `backends` decides which implementation runs.

A folder, read in this order:

- `naive.py`: the equations, token by token. Tests compare the other backends with it.
- the sequence-level function, which an encoder calls (`recurrence.py`). It calls `resolve` with the
  backends that the folder has, and either the naive form or, without autocast, the packed
  recurrence.
- the packed recurrence with its `autograd.Function` (`lstm/layer.py`), the same for all backends
  but for the steps. It passes on the `Backend` and keeps it for the backward pass; nothing below
  decides. Matrix products are those of `Backend.products`.
- `tables.py`: the tables that the steps read and write, as named tuples.
- `eager.py`, `cpu.py`, `gpu.py`: the steps, each a `forward(backend, tables)` and a
  `backward(backend, tables, gradients)`. `cpu.py` binds the tables to the C++ once, with
  `common.native_tables.address`, which checks them; then a step is a call with a few numbers.
"""
