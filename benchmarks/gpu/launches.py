"""Count encoders' launches and waits on a GPU, and compare them with the simulation.

    python -m benchmarks.gpu.launches --device cuda --output out/launches

The encoders, their batch and the simulated counts are from `benchmarks.launches`. Launches are the
profiler's kernels and copies; waits are the warnings of torch's synchronization debug mode. A
training step without padding is captured in a CUDA graph, replayed, and compared with the plain
step in results and time. On a CPU, as a rehearsal, launches are the profiler's operations, and
nothing is captured.
"""

import json
import statistics
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Callable

import torch
from torch import Tensor
from torch._C._autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu.options import option_parser
from benchmarks.launches import BATCH_SIZE, ENCODERS, NUM_TOKENS, SIZE
from benchmarks.measure import interleave
from benchmarks.report import RESULTS, machine, save, write

COLUMNS = {
    "encoder": "encoder",
    "waits, forward": "forward_waits",
    "simulated waits, forward": "simulated_forward_waits",
    "waits, backward": "backward_waits",
    "simulated waits, backward": "simulated_backward_waits",
    "launches, forward": "forward_launches",
    "simulated launches, forward": "simulated_forward_launches",
    "launches, training step": "launches",
    "simulated launches, training step": "simulated_launches",
    "training step, ms": "milliseconds",
    "projected for an H100, ms": "simulated_milliseconds",
    "as a CUDA graph, ms": "graph_milliseconds",
    "error of the graph's gradients": "graph_error",
    "why there is no graph": "no_graph",
}


class Step:
    """A training step of an encoder, with inputs and gradients at fixed addresses."""

    def __init__(self, build: Callable[[], torch.nn.Module], device: torch.device) -> None:
        torch.manual_seed(0)
        self.encoder = build().to(device)
        inputs = torch.randn(BATCH_SIZE, NUM_TOKENS, SIZE)
        lengths = NUM_TOKENS - torch.arange(BATCH_SIZE) // 2
        self.inputs = inputs.to(device).requires_grad_()
        self.mask = (torch.arange(NUM_TOKENS) < lengths.unsqueeze(1)).to(device)

    def forward(self) -> Tensor:
        """Encode the batch with its padding."""
        outputs: Tensor = self.encoder(self.inputs, self.mask)
        return outputs

    def padded(self) -> None:
        """Run a training step over the batch with its padding."""
        self.forward().sum().backward()

    def full(self) -> None:
        """Run a training step over the batch without padding."""
        self.encoder(self.inputs).sum().backward()

    def gradients(self) -> list[Tensor]:
        """Return copies of the gradients."""
        leaves = [self.inputs, *self.encoder.parameters()]
        return [leaf.grad.clone() for leaf in leaves if leaf.grad is not None]

    def forget(self) -> None:
        """Forget all gradients."""
        self.encoder.zero_grad(set_to_none=True)
        self.inputs.grad = None


def launches(step: Callable[[], object], device: torch.device) -> int:
    """Return how many kernels and copies a step launches; on a CPU, how many operations it has."""
    is_gpu = device.type == "cuda"
    activity = ProfilerActivity.CUDA if is_gpu else ProfilerActivity.CPU
    with profile(activities=[activity]) as profiler:
        step()
        if is_gpu:
            torch.cuda.synchronize()
    events = profiler.events() or []
    if is_gpu:
        return sum(event.device_type == DeviceType.CUDA for event in events)
    return sum(event.name.startswith("aten::") for event in events)


def waits(step: Callable[[], object], device: torch.device) -> int:
    """Return how often the program waits for a GPU during a step; on a CPU, zero."""
    if device.type != "cuda":
        step()
        return 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing CUDA operation" in str(warning.message) for warning in caught)


def captured(step: Step) -> torch.cuda.CUDAGraph:
    """Return the graph of a training step without padding, after the warm-up that torch
    requires.
    """
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step.forget()
            step.full()
    torch.cuda.current_stream().wait_stream(stream)
    step.forget()  # lets the graph own the gradients' memory
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step.full()
    return graph


def compare_graph(step: Step, device: torch.device, seconds: float) -> dict[str, Any]:
    """Capture a training step; return its time, the graph's time, and the graph's error."""
    step.forget()
    step.full()
    expected = step.gradients()
    graph = captured(step)
    graph.replay()
    pairs = zip(step.gradients(), expected)
    error = max(((a - b).norm() / b.norm().clamp(min=1e-12)).item() for a, b in pairs)
    times = interleave({"step": step.full, "graph": graph.replay}, seconds, device)
    return {
        "milliseconds": 1e3 * statistics.median(times["step"]),
        "graph_milliseconds": 1e3 * statistics.median(times["graph"]),
        "graph_error": error,
    }


def measure(
    name: str, device: torch.device, seconds: float, simulated: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one row of the table; `simulated` is the row of the simulation."""
    step = Step(ENCODERS[name], device)
    step.padded()  # a warm-up loads the kernels
    with torch.no_grad():
        forward = launches(step.forward, device)
    forward_waits = waits(step.forward, device)
    record = {
        "encoder": name,
        "forward_waits": forward_waits,
        "backward_waits": waits(step.padded, device) - forward_waits,
        "forward_launches": forward,
        "launches": launches(step.padded, device),
    }
    for key in ("forward_waits", "backward_waits", "forward_launches", "launches", "milliseconds"):
        record[f"simulated_{key}"] = simulated.get(key)
    if device.type != "cuda":
        times = interleave({"step": step.full}, seconds, device)
        record["milliseconds"] = 1e3 * statistics.median(times["step"])
        return {**record, "no_graph": "this device is a CPU"}
    try:
        return {**record, **compare_graph(step, device, seconds)}
    except RuntimeError as error:  # the other encoders are still captured
        return {**record, "no_graph": f"{error!s:.200}"}


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for the times of each encoder")
    options = parser.parse_args()
    device = torch.device(options.device)
    info = machine(device)
    committed = json.loads((RESULTS / "launches.json").read_text(encoding="utf-8"))
    simulated = {record["encoder"]: record for record in committed["records"]}
    records: list[dict[str, Any]] = []
    measured = partial(measure, device=device, seconds=options.seconds)
    for name in ENCODERS:
        records.append(measured(name, simulated=simulated.get(name, {})))
        save(options.output, info, records, COLUMNS)
    write(options.output, info, records, COLUMNS)


if __name__ == "__main__":
    main()
