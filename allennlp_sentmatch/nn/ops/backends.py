"""The choice of a recurrence's implementation, which is made only here.

A recurrence has some of these implementations, its backends, which agree to rounding.

- "naive": the equations, token by token, as operations of torch that autograd differentiates. Runs
  everywhere, in any precision, compiled and within `torch.func`, and has derivatives of any order.
- "scan": the same with tensors of fixed shapes, so that `torch.export` can record the loop over
  the tokens for any length. It runs there, and elsewhere only on request, for tests.
- "eager": whole batches without their padding in a few operations of torch, with an analytic
  backward pass; for LSTMs, CAS-LSTM and SuBiLSTM on GPUs and without compiled steps, and for
  additive attention.
- "cpu": the same, with the element-wise part of each step compiled from C++.
- "parallel": all tokens at once, in a number of operations that grows with the logarithm of their
  number; RCRN's own recurrence on GPUs.

The default on a CPU is "cpu" if it can run, then "eager", then "naive"; on other devices,
"parallel" replaces "cpu". To choose another one, for instance to take a gradient of a gradient:

    with use_backend("naive"):
        outputs = encoder(inputs, mask)

An encoder's forward pass calls `resolve` once; the backward pass uses the same backend.
"""

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Callable, Literal, NamedTuple, Optional, Union, get_args

import torch

from allennlp_sentmatch.nn.ops.common import native
from allennlp_sentmatch.nn.ops.common.activations import tanh_by_sigmoid
from allennlp_sentmatch.nn.ops.common.execution import (
    has_values,
    is_compiling_or_tracing,
    is_exporting,
    is_on_gpu,
    is_traced,
    is_transformed,
)
from allennlp_sentmatch.nn.ops.common.products import MKLProducts, Products, fastest_products

Name = Literal["naive", "scan", "eager", "cpu", "parallel"]

#: The default backends, on a CPU and on other devices: the first one that can run.
DEFAULTS: tuple[Name, ...] = ("cpu", "eager", "naive")
DEFAULTS_ON_GPU: tuple[Name, ...] = ("parallel", "eager", "naive")

_requested: ContextVar[Optional[Name]] = ContextVar("backend", default=None)


class BackendError(RuntimeError):
    """The requested backend cannot run.

    The message names the recurrence, the backend and the reason.
    """


class Backend(NamedTuple):
    """The implementation that was chosen for a call.

    # Attributes

    name : `str`
        The implementation of the recurrence; see the module's docstring.
    products : `type[Products]`, optional (default = `Products`)
        The library that multiplies matrices.
    tanh : `Callable[..., Tensor]`, optional (default = `torch.tanh`)
        The fastest tanh, which takes an optional `out`.
    """

    name: Name
    products: type[Products] = Products
    tanh: Callable[..., torch.Tensor] = torch.tanh


@contextmanager
def use_backend(name: Optional[Name]) -> Iterator[None]:
    """Run recurrences by this backend, or by the default one, within the context.

    The choice holds for the calling thread. A backward pass uses what its forward pass used.

    Functions compiled by `torch.compile` ignore the choice: they run "naive", which the compiler
    records. `torch.utils.checkpoint` with `use_reentrant=False` repeats the forward pass during the
    backward pass, when the context may have ended; let it enter the context both times:

        checkpoint(
            encoder, inputs, mask, use_reentrant=False,
            context_fn=lambda: (use_backend("naive"), use_backend("naive")),
        )

    `name` is one of the names in this module's docstring, or `None` for the default. If the backend
    cannot run for an encoder and its inputs, the encoder's call raises `BackendError` with the
    reason.
    """
    if name is not None and name not in get_args(Name):
        raise ValueError(f"backend must be one of {get_args(Name)} or None, got {name!r}")
    token = _requested.set(name)
    try:
        yield
    finally:
        _requested.reset(token)


def resolve(
    recurrence: str,
    implementations: Collection[Name],
    *tensors: torch.Tensor,
) -> Backend:
    """Return the backend for a call: the requested one, or else the default.

    `recurrence` is the recurrence's name in errors, and `implementations` are its backends, "naive"
    among them. `tensors` are inputs and parameters. All backends except "naive" and "scan" need
    them on one device in one precision, float32 or float64.

    Raise a `BackendError` if the requested backend cannot run, in `torch.jit.trace`, and in
    `torch.export` with gradients.
    """
    if is_traced():
        raise BackendError(
            f"torch.jit.trace would record {recurrence} only for the length of its example; "
            "use torch.export.export"
        )
    if is_exporting() and "scan" in implementations:
        if torch.is_grad_enabled():
            # torch 2.13 cannot differentiate an exported loop with outputs of integers.
            raise BackendError("export an encoder within torch.no_grad()")
        return Backend("scan")
    if is_compiling_or_tracing():  # a compiler cannot read context variables
        return Backend("naive")
    requested = _requested.get()
    if requested is None:
        defaults = DEFAULTS if tensors[0].device.type == "cpu" else DEFAULTS_ON_GPU
        return _backend(
            next(x for x in defaults if x in implementations and _obstacle(x, tensors) is None),
            tensors[0],
        )
    if requested not in implementations:
        raise BackendError(
            f'{recurrence} has no backend "{requested}", only {", ".join(sorted(implementations))}'
        )
    obstacle = _obstacle(requested, tensors)
    if obstacle is not None:
        raise BackendError(f'The backend "{requested}" cannot run {recurrence}: {obstacle}')
    return _backend(requested, tensors[0])


def _backend(name: Name, like: torch.Tensor) -> Backend:
    """Return the backend `name` with the fastest operations for tensors like this one."""
    if like.device.type != "cpu" or like.dtype != torch.float32:
        return Backend(name)
    return Backend(name, fastest_products(), tanh_by_sigmoid)


#: Whether there are compiled steps, and so the backend "cpu".
COMPILED = native.why_missing is None


def _obstacle(name: Name, tensors: tuple[torch.Tensor, ...]) -> Optional[str]:
    """Return the reason why a backend cannot run for these tensors; `None` if it can."""
    if name in ("naive", "scan"):
        return None
    device = tensors[0].device
    dtype = tensors[0].dtype
    if any(x.device != device or x.dtype != dtype for x in tensors):
        return "its tensors differ in device or precision"
    if dtype not in (torch.float32, torch.float64):
        return f"it computes in float32 and float64, not in {dtype}"
    if device.type == "meta":
        return "it reads values, which are not on meta"
    if any(map(is_transformed, tensors)):
        return "its operations are transformed, as by torch.func or by a class of tensors"
    if name == "cpu" and device.type != "cpu":
        return f"its tensors are on {device}"
    if name == "cpu" and native.why_missing is not None:
        return native.why_missing
    return None


#: The shares of tokens in a padded batch below which this package's recurrences run one of torch's
#: networks, in training and without gradients, and below which torch runs it packed, without
#: gradients. Measured on a CPU (32 sentences of at most 40 or 200 tokens, 75 to 300 units, torch
#: 2.13, one thread).
#:
#: This package trains GRUs in half to 0.7 of torch's time; without gradients they take 1.4 times as
#: long with 100 units, two thirds with 300. It trains LSTMs in 0.6 to 0.9 of torch's time with 38 %
#: of padding, which it skips, but in 1.0 to 1.3 without, and only on Intel processors: on an AMD
#: EPYC it is not faster on one thread, and slower on more. oneDNN runs LSTMs over padded batches,
#: faster than torch's steps of a packed batch until these are large. It does not run GRUs. In
#: training, torch takes 1.5 times as long packed (150 or 300 units), and for passages of 150 to 200
#: tokens 7 to 9 times.
NETWORK_SHARES: dict[tuple[str, str], tuple[float, float, float]] = {
    ("LSTM", "below 256 units"): (0.85, 0.0, 0.5),
    ("LSTM", "from 256 units"): (0.85, 0.0, 0.75),
    ("GRU", "below 256 units"): (math.inf, 0.0, 0.9),
    ("GRU", "from 256 units"): (math.inf, math.inf, 0.9),
}


def resolve_words(network: torch.nn.Module, vectors: torch.Tensor) -> Optional[Backend]:
    """Return the backend that runs an LSTM over sentences of words with these `vectors` (U, D).

    Return `None` if the network must be called: for gradients, another kind of network, several
    layers, hooks, a GPU, precisions other than float32 and float64, and a requested backend.
    """
    if type(network) is not torch.nn.LSTM or network.num_layers > 1 or network.proj_size > 0:
        return None
    parameters = [vectors, *network.parameters()]
    if torch.is_grad_enabled() or not all(map(has_values, parameters)):
        return None
    has_hooks = must_be_called(network) or network._forward_hooks
    if has_hooks or _requested.get() is not None:
        return None
    if _obstacle("cpu", tuple(parameters)) is not None:
        return None
    return _backend("cpu", vectors)


def resolve_network(
    network: Union[torch.nn.LSTM, torch.nn.GRU],
    inputs: torch.Tensor,
    mask: Optional[torch.Tensor],
    needs_last_states: bool = False,
) -> Literal["own", "packed", "padded"]:
    """Decide whether this package's recurrences or torch run one of torch's networks, and how.

    The arguments are as in `run_networks`. Torch's networks over padded batches do not have the
    sentences' last states; cuDNN takes packed batches as they are. Forward hooks do not matter:
    AllenNLP hooks every module for one batch, whose numbers must be the same as without hooks.
    """
    if has_own_forward(network):
        return "packed"
    if is_exporting() or is_transformed(inputs) or _has_replaced_weights(network):
        return "own"
    if has_values(inputs) and must_be_called(network):
        return "packed"
    if needs_last_states:
        return "packed" if is_on_gpu(inputs) and inputs.size(1) > 0 else "own"
    if inputs.device.type != "cpu":
        return "packed" if is_on_gpu(inputs) and mask is not None else "padded"
    if is_compiling_or_tracing():
        return "padded"
    share = 1.0 if mask is None else float(mask.float().mean())
    return _fastest_on_cpu(network, inputs, share)


def must_be_called(network: torch.nn.Module) -> bool:
    """Return whether the network must be called: it is quantized, or has its own forward or hooks,
    such as pruning's.
    """
    return has_own_forward(network) or bool(network._forward_pre_hooks)


def has_own_forward(network: torch.nn.Module) -> bool:
    """Return whether a network's `forward` is not the one of torch's LSTM or GRU.

    Networks of other classes may have torch's `forward`, as parametrized networks do.
    """
    forwards = (torch.nn.LSTM.forward, torch.nn.GRU.forward)
    return type(network).forward not in forwards or "forward" in vars(network)


def _has_replaced_weights(network: torch.nn.RNNBase) -> bool:
    """Return whether a torch before 2.0 would run the network with weights that it no longer has.

    Parametrizations and `functional_call` replace a network's weights.
    """
    if hasattr(torch, "func"):
        return False
    present = chain.from_iterable(network.all_weights)
    return any(x is not y for x, y in zip(network._flat_weights, present))


def _fastest_on_cpu(
    network: Union[torch.nn.LSTM, torch.nn.GRU],
    inputs: torch.Tensor,
    share: float,
) -> Literal["own", "packed", "padded"]:
    """Choose by `NETWORK_SHARES`, for a batch with this share of tokens, from 0 to 1.

    The result is as in `resolve_network`.
    """
    backend = resolve("the network", get_args(Name), inputs, *network.parameters())
    kind = "LSTM" if isinstance(network, torch.nn.LSTM) else "GRU"
    units = "from 256 units" if network.hidden_size >= 256 else "below 256 units"
    own_in_training, own, packed = NETWORK_SHARES[kind, units]
    if kind == "LSTM" and backend.products is not MKLProducts:
        own_in_training = 0.0
    trains = torch.is_grad_enabled()
    largest_share = own_in_training if trains else own
    if backend.name == "cpu" and share < largest_share:
        return "own"
    if not trains and share < packed:
        return "packed"
    return "padded"
