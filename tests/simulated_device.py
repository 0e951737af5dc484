"""An accelerator simulated in this process, to find on a CPU what would fail on a GPU.

    with SimulatedDevice() as device:
        encoder.to("simulated")(inputs.to("simulated"))
    print(device.launches, device.synchronizations)

A tensor on the device "simulated" holds a tensor on the CPU, on which its operations run, so that
values and gradients are those of the CPU, and after `torch.manual_seed` the random numbers, too. As
on a GPU, an operation on tensors of two devices is an error. The device counts the operations, and
those for which the program would wait for it, with the lines that cause them. Memory, streams and
kernels are not simulated.

torch's interface for devices in Python is experimental, and missing before torch 2.13.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Callable

import pytest
import torch
from torch import Tensor

try:
    from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
    from torch.utils.backend_registration import (
        _DummyBackendModule,
        _setup_privateuseone_for_python_backend,
    )

    WHY_MISSING = ""
except ImportError as error:
    TorchDispatchMode = _DummyBackendModule = object
    WHY_MISSING = f"torch {torch.__version__} cannot simulate a device: {error}"

NAME = "simulated"
AUTOCAST = "AutocastPrivateUse1"

NOT_LAUNCHED = {
    "_local_scalar_dense",
    "_unsafe_view",
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
}
"""Operations, other than those that view a tensor, for which a GPU has nothing to compute."""

WAITING = {
    "_local_scalar_dense",
    "_unique2",
    "bincount",
    "equal",
    "is_nonzero",
    "masked_select",
    "nonzero",
    "unique_consecutive",
    "unique_dim",
}
"""Operations after which a program knows values, or sizes that depend on values."""

INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_"}
TAKING_CPU_TENSORS = {*INDEXING, "copy_", "_to_copy", "_pack_padded_sequence"}
"""Operations that CUDA runs on tensors of the CPU as well: indices, copies, lengths."""

LOWERED = ("addmm", "baddbmm", "bmm", "conv1d", "linear", "matmul", "mm", "mv")
RAISED = (
    "cosine_embedding_loss",
    "cosine_similarity",
    "cumsum",
    "exp",
    "layer_norm",
    "log",
    "log_softmax.int",
    "mse_loss",
    "nll_loss",
    "norm.ScalarOpt_dim",
    "pow.Tensor_Scalar",
    "prod",
    "softmax.int",
    "sum",
    "sum.dim_IntList",
)
"""The operations, of those that this package calls, that CUDA's autocast runs in half precision and
in float32.
"""


class SimulatedTensor(Tensor):
    """A tensor on the simulated device; `inner` is the one on the CPU."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> "SimulatedTensor":
        tensor: SimulatedTensor = Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=torch.device(NAME, 0),
        )
        tensor.inner = inner
        return tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        # Reached only in a thread that the device's context did not enter.
        return _run(func, args, kwargs or {}, SimulatedDevice())

    # `Module.to` keeps the parameters' identity, as it does on a GPU, if there are these two.
    def __tensor_flatten__(self):
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(tensors, context, size, stride):
        return SimulatedTensor(tensors["inner"])

    def __reduce_ex__(self, protocol):
        return self.cpu().detach().requires_grad_(self.requires_grad).__reduce_ex__(protocol)

    def __repr__(self, **_):
        return f"SimulatedTensor({self.inner})"

    def tolist(self):
        return self.cpu().tolist()


class SimulatedDevice(TorchDispatchMode):
    """The device, within a context; the test is skipped where torch cannot simulate one.

    # Parameters

    refuses_to_wait : `bool`, optional (default = `False`)
        Whether waiting for the device is an error, as it is while a CUDA graph is captured.

    # Attributes

    launches : `Counter[str]`
        How often each operation ran, without those that only view or allocate a tensor.
    synchronizations : `Counter[tuple[str, str]]`
        How often each operation made the program wait, by its name and the innermost "file:line"
        outside of torch.
    """

    def __init__(self, refuses_to_wait: bool = False) -> None:
        super().__init__()
        self.refuses_to_wait = refuses_to_wait
        self.launches: Counter[str] = Counter()
        self.synchronizations: Counter[tuple[str, str]] = Counter()

    def __enter__(self):
        if WHY_MISSING:
            pytest.skip(WHY_MISSING)
        _register()
        self._before = torch._C._only_lift_cpu_tensors(), torch.tensor
        torch._C._set_only_lift_cpu_tensors(True)
        torch.tensor = _tensor
        # The engine's threads may be older than the device: run its backward passes in this one.
        self._one_thread = torch.autograd.set_multithreading_enabled(False)
        return super().__enter__()

    def __exit__(self, *exception):
        only_lift_cpu_tensors, torch.tensor = self._before
        torch._C._set_only_lift_cpu_tensors(only_lift_cpu_tensors)
        self._one_thread.__exit__(*exception)
        return super().__exit__(*exception)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {}, self)

    def count(self, operation: str, is_view: bool, waits: bool) -> None:
        if not is_view and operation not in NOT_LAUNCHED:
            self.launches[operation] += 1
        if waits:
            line = _calling_line()
            if self.refuses_to_wait:
                raise RuntimeError(f"{operation} waits for the device at {line}")
            self.synchronizations[operation, line] += 1


def _run(func: Any, args: Any, kwargs: dict[str, Any], device: SimulatedDevice) -> Any:
    """Run an operation on the CPU, and wrap what it returns if it belongs to the device."""
    tensors = list(_tensors_in((args, kwargs)))
    has_simulated = any(isinstance(x, SimulatedTensor) for x in tensors)
    target = kwargs.get("device")
    if not has_simulated and (target is None or target.type != NAME):
        return func(*args, **kwargs)
    name = func._schema.name.partition("::")[2]
    if has_simulated and name not in TAKING_CPU_TENSORS:
        _check_devices(func, name, tensors)
    device.count(name, func.is_view, _waits(name, args, kwargs))
    output = _run_on_cpu(func, name, args, kwargs)
    if name == "copy_":
        return args[0]
    if name == "_local_scalar_dense" or (target is not None and target.type != NAME):
        return output
    if name == "_pack_padded_sequence":  # CUDA's version leaves the sizes of the steps on the CPU
        return SimulatedTensor(output[0]), output[1]
    output = _with_tensors(SimulatedTensor, output)
    return return_and_correct_aliasing(func, args, kwargs, output)


# torch's pytrees, which know many other types, take as long as all else.


def _tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors in lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors_in(part)


def _with_tensors(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """The value with a function's results in place of the tensors in it."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: _with_tensors(function, part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_with_tensors(function, part) for part in value])
    return value


def _check_devices(func: Any, name: str, tensors: list[Tensor]) -> None:
    """Raise the error of an operation on tensors of two devices."""
    # As on a GPU, a CPU scalar cannot be combined with another device's tensors when tensors are
    # joined.
    min_dim = 0 if name in ("cat", "stack") else 1
    if any(not isinstance(x, SimulatedTensor) and x.dim() >= min_dim for x in tensors):
        operands = [f"{tuple(x.shape)} on {x.device}" for x in tensors]
        raise RuntimeError(f"{func} got tensors on two devices: {', '.join(operands)}")


def _run_on_cpu(func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return what an operation gives for the CPU's tensors of the simulated ones."""
    inner_args, inner_kwargs = _with_tensors(
        lambda x: x.inner if isinstance(x, SimulatedTensor) else x, (args, kwargs)
    )
    if kwargs.get("device") is not None:
        inner_kwargs["device"] = torch.device("cpu")
    is_random = torch.Tag.nondeterministic_seeded in func.tags
    if is_random and inner_kwargs.get("generator") is not None:
        raise RuntimeError(f"{func} on {NAME} cannot take a generator of the CPU")
    with _DeviceModule.random_numbers() if is_random else nullcontext():
        return FORMULAS.get(name, func)(*inner_args, **inner_kwargs)


def _waits(name: str, args: Any, kwargs: dict[str, Any]) -> bool:
    """Return whether a program waits for the result of an operation on a GPU."""
    if name == "_to_copy":
        source = args[0].device.type
        target = kwargs.get("device")
        is_upload = source == "cpu" and kwargs.get("non_blocking", False)
        return target is not None and target.type != source and not is_upload
    if name == "copy_":
        is_upload = args[1].device.type == "cpu" and any(args[2:])
        return args[0].device.type != args[1].device.type and args[1].dim() > 0 and not is_upload
    if name == "repeat_interleave":
        return kwargs.get("output_size") is None
    if name in INDEXING:
        indices = [x for x in args[1] if x is not None]
        if any(x.dtype in (torch.bool, torch.uint8) for x in indices):
            # torch does not look for the elements that a mask gives a single number.
            return name == "index" or args[2].numel() > 1 or len(indices) > 1
        return any(x.device.type == "cpu" for x in indices)
    return name in WAITING


def _calling_line() -> str:
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BELOW):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


_BELOW = (str(Path(torch.__file__).parent), __file__)


_torch_tensor = torch.tensor


def _tensor(data, *, dtype=None, device=None, requires_grad=False, **options):
    """`torch.tensor`, whose copy to a device does not reach `__torch_dispatch__`."""
    if device is None or torch.device(device).type != NAME:
        options.update(device=device, requires_grad=requires_grad)
        return _torch_tensor(data, dtype=dtype, **options)
    return _torch_tensor(data, dtype=dtype, **options).to(device).requires_grad_(requires_grad)


# The fused cells of GPUs, which torch lacks on the CPU, by the equations of torch.nn.LSTM and GRU.


def _lstm_cell(input_gates, hidden_gates, c, input_bias=None, hidden_bias=None):
    gates = input_gates + hidden_gates  # (B, 4 H)
    if input_bias is not None:
        gates = gates + input_bias + hidden_bias
    i, f, g, o = gates.chunk(4, 1)
    i = i.sigmoid()
    f = f.sigmoid()
    g = g.tanh()
    o = o.sigmoid()
    cell = f * c + i * g
    return o * cell.tanh(), cell, torch.cat([i, f, g, o], 1)


def _lstm_cell_backward(grad_h, grad_c, c, cell, workspace, has_bias):
    i, f, g, o = workspace.chunk(4, 1)
    grad_h = torch.zeros_like(cell) if grad_h is None else grad_h
    grad_cell = grad_h * o * (1 - cell.tanh() ** 2) + (0 if grad_c is None else grad_c)
    gates = (
        grad_cell * g * i * (1 - i),
        grad_cell * c * f * (1 - f),
        grad_cell * i * (1 - g**2),
        grad_h * cell.tanh() * o * (1 - o),
    )
    grad_gates = torch.cat(gates, 1)
    return grad_gates, grad_cell * f, grad_gates.sum(0) if has_bias else None


def _gru_cell(input_gates, hidden_gates, h, input_bias=None, hidden_bias=None):
    if input_bias is not None:
        input_gates = input_gates + input_bias
        hidden_gates = hidden_gates + hidden_bias
    (r, z, n), (hidden_r, hidden_z, hidden_n) = (x.chunk(3, 1) for x in (input_gates, hidden_gates))
    r = (r + hidden_r).sigmoid()
    z = (z + hidden_z).sigmoid()
    n = (n + r * hidden_n).tanh()
    return n + z * (h - n), torch.cat([r, z, n, h, hidden_n], 1)


def _gru_cell_backward(grad, workspace, has_bias):
    r, z, n, h, hidden_n = workspace.chunk(5, 1)
    grad_z = grad * (h - n) * z * (1 - z)
    grad_n = grad * (1 - z) * (1 - n**2)
    grad_r = grad_n * hidden_n * r * (1 - r)
    input_gates = torch.cat([grad_r, grad_z, grad_n], 1)
    hidden_gates = torch.cat([grad_r, grad_z, grad_n * r], 1)
    biases = (input_gates.sum(0), hidden_gates.sum(0)) if has_bias else (None, None)
    return (input_gates, hidden_gates, grad * z, *biases)


FORMULAS: dict[str, Callable[..., Any]] = {
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
}


class _DeviceModule(_DummyBackendModule):
    """The interface that torch requires of a device, `torch.simulated`: its precisions and
    generator.
    """

    _random_state = torch.get_rng_state()

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    def manual_seed_all(self, seed: int) -> None:
        _DeviceModule._random_state = torch.Generator().manual_seed(seed).get_state()

    def get_rng_state(self, device: Any) -> Tensor:
        return _DeviceModule._random_state

    def set_rng_state(self, state: Tensor, device: Any) -> None:
        _DeviceModule._random_state = state

    @classmethod
    @contextmanager
    def random_numbers(cls) -> Iterator[None]:
        """Take random numbers from the device's generator, not from the CPU's."""
        before = torch.get_rng_state()
        torch.set_rng_state(cls._random_state)
        try:
            yield
        finally:
            cls._random_state = torch.get_rng_state()
            torch.set_rng_state(before)


_libraries: list[Any] = []
"""torch's registrations, which hold as long as these objects."""


def _register() -> None:
    if _libraries:
        return
    _setup_privateuseone_for_python_backend(NAME, _DeviceModule())
    every, library = (torch.library.Library(space, "IMPL") for space in ("_", "aten"))
    _libraries.extend((every, library))
    every.fallback(torch.library.fallthrough_kernel, AUTOCAST)
    for names, lowers in ((LOWERED, True), (RAISED, False)):
        for name in names:
            library.impl(name, _under_autocast(name, lowers), AUTOCAST)


def _under_autocast(name: str, lowers: bool) -> Callable[..., Any]:
    packet, _, overload = name.partition(".")
    operation = getattr(getattr(torch.ops.aten, packet), overload or "default")
    key = torch._C.DispatchKeySet(torch._C._dispatch_key_parse(AUTOCAST))

    def cast(x: Tensor) -> Tensor:
        if not x.is_floating_point() or x.dtype == torch.float64:
            return x
        return x.to(torch.get_autocast_dtype(NAME) if lowers else torch.float32)

    def run(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(key):
            return operation(*_with_tensors(cast, args), **_with_tensors(cast, kwargs))

    return run
