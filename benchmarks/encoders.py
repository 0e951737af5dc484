"""Time each encoder and the torch.nn.LSTM it is compared with, in one run; print one table.

For each encoder, sentence length and batch size, the table has the time of a forward pass and of a
training step, their ratios to the baseline's, the ratio of arithmetic (the limit) and the training
step's ratio to that, the peak memory, and the ratios of the encoder's naive backend. An encoder
whose default backend disagrees with its naive backend is not reported. The C library keeps freed
memory during the run. The results are written to benchmarks/results/.

    python -m benchmarks.encoders                                   # everything: about 30 minutes
    python -m benchmarks.encoders --encoders cas_lstm rcrn --lengths 16 32 --batch-sizes 32
    python -m benchmarks.encoders --lengths 64 128 256 512 --batch-sizes 32 --output out/long
"""

import argparse
import math
import statistics
from functools import partial
from pathlib import Path
from typing import Any, Optional

import torch
from tqdm import tqdm

from benchmarks.cases import CASES, Case
from benchmarks.measure import (
    Candidate,
    disagreement,
    interleave,
    keep_freed_memory,
    median_ratio,
    peak_memory,
    return_freed_memory,
)
from benchmarks.report import RESULTS, machine, plot, save, write

#: Largest relative difference in norm between the default and the naive backend, in float32.
TOLERANCE = 1e-3
NUM_COMPARED = 4  # the sentences whose results are compared, if the naive ones fit

#: Column titles, each with the key of a record.
COLUMNS = {
    "encoder": "encoder",
    "T": "num_tokens",
    "batch": "batch_size",
    "forward, ms": "forward_ms",
    "training step, ms": "training_ms",
    "peak MB": "peak_mb",
    "compared with": "baseline",
    "its forward": "baseline_forward_ms",
    "its step": "baseline_training_ms",
    "its MB": "baseline_peak_mb",
    "forward ratio": "forward_ratio",
    "step ratio": "training_ratio",
    "arithmetic ratio": "arithmetic_ratio",
    "step / arithmetic": "training_over_arithmetic",
    "naive forward ratio": "naive_forward_ratio",
    "naive step ratio": "naive_training_ratio",
}


def measure(
    case: Case,
    num_tokens: int,
    batch_size: int,
    device: torch.device,
    seconds: float,
    longest: float = math.inf,
    shorter: Optional[dict[str, Any]] = None,
) -> dict[str, Any]:
    """Measure one row of the table.

    A step is left out if `shorter`, the record of shorter sentences, has no time for it, or if this
    time, growing with the square of the length, would exceed `longest` seconds.
    """
    record: dict[str, Any] = {
        "encoder": case.name,
        "num_tokens": num_tokens,
        "batch_size": batch_size,
        "baseline": case.baseline_name,
        "arithmetic_ratio": case.arithmetic_ratio(num_tokens),
    }
    return_freed_memory()
    torch.manual_seed(0)
    inputs = torch.randn(batch_size, num_tokens, case.input_size, device=device)
    mask = torch.ones(batch_size, num_tokens, dtype=torch.bool, device=device)
    encoder = case.encoder().to(device)
    size = case.training_bytes(num_tokens, NUM_COMPARED, naive=True)
    expected = _expected_seconds(shorter, num_tokens, "default", "forward")
    if expected <= longest and size <= 0.8 * _free_memory(device):
        error = disagreement(encoder, inputs[:NUM_COMPARED], mask[:NUM_COMPARED])
        if not error <= TOLERANCE:
            raise SystemExit(f"{case.name}: the default backend is {error:.1e} off the naive one")
        record["disagreement"] = error
    candidates = {
        "baseline": Candidate.lstm(case.baseline().to(device)),
        "default": Candidate.encoder(encoder, mask, None),
        "naive": Candidate.encoder(encoder, mask, "naive"),
    }
    too_slow = f"steps of more than {longest:g} seconds"
    for kind in ("forward", "training"):
        steps = {"baseline": partial(getattr(candidates["baseline"], kind), inputs)}
        for name in ("default", "naive"):
            size = case.training_bytes(num_tokens, batch_size, naive=name == "naive")
            if kind == "training" and size > 0.8 * _free_memory(device):
                record["left_out"] = f"training steps of {size / 2**30:.0f} GB"
            elif _expected_seconds(shorter, num_tokens, name, kind) > longest:
                record["left_out"] = too_slow
            else:
                steps[name] = partial(getattr(candidates[name], kind), inputs)
        times = interleave(steps, seconds, device, longest)
        for name, step in steps.items():
            if not times[name]:
                record["left_out"] = too_slow
                continue
            record.update(_figures(name, kind, times))
            if kind == "training":
                peak = peak_memory(step, device)
                record[f"{_prefix(name)}peak_mb"] = None if peak is None else peak / 2**20
    if "training_ratio" in record:
        record["training_over_arithmetic"] = record["training_ratio"] / record["arithmetic_ratio"]
    return record


def _figures(name: str, kind: str, times: dict[str, list[float]]) -> dict[str, float]:
    """Return the fields of a record about the times of a step, in seconds."""
    prefix = f"{_prefix(name)}{kind}"
    figures = {
        f"{prefix}_ms": 1000 * statistics.median(times[name]),
        f"{prefix}_ms_min": 1000 * min(times[name]),
        f"{prefix}_rounds": len(times[name]),
    }
    if name != "baseline":
        figures[f"{prefix}_ratio"] = median_ratio(times[name], times["baseline"])
    return figures


def _expected_seconds(
    shorter: Optional[dict[str, Any]], num_tokens: int, name: str, kind: str
) -> float:
    """Return the expected time of a step: 0 without a record of shorter sentences."""
    if shorter is None:
        return 0.0
    growth: float = (num_tokens / shorter["num_tokens"]) ** 2
    time: float = shorter.get(f"{_prefix(name)}{kind}_ms", math.inf)
    return growth * time / 1000


def _prefix(name: str) -> str:
    """Return the prefix of a candidate's fields in a record."""
    return "" if name == "default" else f"{name}_"


def _free_memory(device: torch.device) -> float:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    with open("/proc/meminfo") as file:
        line = next(line for line in file if line.startswith("MemAvailable"))
    return int(line.split()[1]) * 1024


def parsed(arguments: Optional[list[str]]) -> argparse.Namespace:
    """Return the options of a command line."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--encoders",
        nargs="+",
        choices=names,
        default=names,
    )
    parser.add_argument(
        "--lengths",
        nargs="+",
        type=int,
        default=[16, 32, 64, 128, 256],
    )
    parser.add_argument(
        "--batch-sizes",
        nargs="+",
        type=int,
        default=[32, 128],
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument(
        "--seconds",
        type=float,
        default=5.0,
        help="for each row, twice",
    )
    parser.add_argument(
        "--longest",
        type=float,
        default=60.0,
        help="seconds: what takes longer, or is expected to from the time of shorter sentences, is "
        "left out, and a step of more than SECONDS runs once",
    )
    default = "benchmarks/results/encoders_<device>"
    parser.add_argument("--output", type=Path, help=f"without an ending; default: {default}")
    parser.add_argument("--plot", type=Path, help="a picture of the ratios to the baselines")
    return parser.parse_args(arguments)


def main(arguments: Optional[list[str]] = None) -> None:
    """Run the measurements and write the results."""
    options = parsed(arguments)
    keep_freed_memory()
    torch.set_num_threads(options.threads)
    device = torch.device(options.device)
    info = machine(device)
    grid = [
        (case, num_tokens, batch_size)
        for case in CASES
        if case.name in options.encoders
        for batch_size in options.batch_sizes
        for num_tokens in sorted(options.lengths)
    ]
    info["run once, warm"] = f"what takes longer than {options.seconds:g} seconds"
    output = options.output or RESULTS / f"encoders_{device.type}"
    records: list[dict[str, Any]] = []
    last: dict[tuple[str, int], dict[str, Any]] = {}  # shorter sentences of the same series
    for case, num_tokens, batch_size in tqdm(grid):
        settings = (case, num_tokens, batch_size, device, options.seconds, options.longest)
        series = (case.name, batch_size)
        last[series] = measure(*settings, last.get(series))
        records.append(last[series])
        save(output, info, records, COLUMNS)  # saved here, since the run may be interrupted
    write(output, info, records, COLUMNS)
    if options.plot is not None:
        plot(options.plot, info, records)


if __name__ == "__main__":
    main()
