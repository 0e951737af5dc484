"""The recurrences of the modules of `allennlp_sentmatch.nn`.

Each recurrence has a folder. `gru/` is the template, with a file for each role.

- `recurrence.py`: the function that an encoder calls, and `IMPLEMENTATIONS`, its backends. It calls
  `resolve` once and then `naive.py` or, without padding, the `forward` and the `backward` of a
  backend, which `common.autograd.differentiable` combines into one function.
- `naive.py`: the parameters, and the equations as operations that autograd differentiates. Tests
  compare all backends with it. A step is one function. It runs in a loop over tokens or, for
  `torch.export`, by `common.scan` with tensors of fixed shapes.
- `cpu.py`: the steps and their derivatives, `forward` and `backward`, and the tables that they read
  and write, without any choices. It fills a structure, `common.native.Arguments`, with addresses of
  tables, and calls a function of the C++ for a step. "eager" steps are operations of torch.

If there are two backends in addition to `naive.py`, one file has the step and its derivative by
both: `cas_lstm/layer.py`, with the products before and after the steps, and `subilstm/cells.py`,
whose cells `subilstm/steps.py` runs in the order of `subilstm/schedule.py`. `backends.py` decides
between the implementations, and between these and torch's own networks. `common/` has what the
folders share, `native/` the C++.

Masks are as in `allennlp_sentmatch.nn`. B sentences have at most T tokens, N in all, and are read
in S directions, left-to-right first. An input has D numbers and a state H, and a cell G gates.
"""
