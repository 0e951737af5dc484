"""Time RCRN and BiLSTMs of one and three layers, as in table 10 of RCRN's paper; print one table.

A pass is a forward pass, or a training step (forward and backward), over 32 sentences of the same
length, with 200 dimensions in each direction over vectors of 300. The BiLSTMs are torch.nn.LSTM,
which computes in oneDNN on a CPU as in cuDNN on a GPU. On a CPU, times are the processor's, on one
thread: other processes lengthen them less than wall-clock times. The paper measured seconds for an
epoch of IMDb on a GTX 1070, with optimized kernels for RCRN; ratios are compared. The results are
written to benchmarks/results/.

    python -m benchmarks.rcrn_runtime     # two minutes
"""

import argparse
import statistics
from functools import partial
from pathlib import Path
from typing import Any

import torch

from allennlp_sentmatch.nn import RecurrentlyControlledRNN
from benchmarks.measure import (
    Candidate,
    interleave,
    keep_freed_memory,
    median_ratio,
    processor_times,
)
from benchmarks.report import RESULTS, machine, save, write

BATCH_SIZE = 32
INPUT_SIZE = 300
HIDDEN_SIZE = 200

LENGTHS = (16, 32, 64, 128, 256)

ONE = "BiLSTM"
THREE = "3-layer BiLSTM"
RCRN = "RCRN"
NAIVE = "RCRN, naive"

#: Tay et al. 2018, "Recurrently Controlled Recurrent Networks", table 10: seconds an epoch for each
#: of `LENGTHS`. "RCRN, naive" is the paper's RCRN without its CUDA kernels.
PUBLISHED = {
    "training": {
        ONE: (5, 6, 9, 14, 26),
        THREE: (10, 14, 23, 42, 80),
        RCRN: (10, 13, 21, 40, 78),
        NAIVE: (19, 29, 53, 101, 219),
    },
    "forward": {
        ONE: (2, 3, 4, 6, 10),
        THREE: (4, 5, 9, 16, 32),
        RCRN: (4, 5, 8, 15, 29),
        NAIVE: (8, 12, 23, 41, 78),
    },
}

#: The ratios of the table, each of the first to the second.
RATIOS = {
    "three_layers": (THREE, ONE),
    "rcrn": (RCRN, THREE),
    "naive": (NAIVE, THREE),
}

COLUMNS = {
    "pass": "pass",
    "T": "num_tokens",
    "BiLSTM, ms": "baseline_ms",
    "3-layer BiLSTM / BiLSTM": "three_layers",
    "published": "published_three_layers",
    "RCRN / 3-layer BiLSTM": "rcrn",
    "published, CUDA kernels": "published_rcrn",
    "RCRN, naive / 3-layer BiLSTM": "naive",
    "published, no CUDA kernels": "published_naive",
}


def candidates(num_tokens: int, device: torch.device) -> dict[str, Candidate]:
    """Return the networks to time on sentences of this length."""
    mask = torch.ones(BATCH_SIZE, num_tokens, dtype=torch.bool, device=device)
    rcrn = RecurrentlyControlledRNN(INPUT_SIZE, HIDDEN_SIZE).to(device)

    def lstm(num_layers: int) -> Candidate:
        network = torch.nn.LSTM(
            INPUT_SIZE, HIDDEN_SIZE, num_layers, batch_first=True, bidirectional=True
        )
        return Candidate.lstm(network.to(device))

    return {
        ONE: lstm(1),
        THREE: lstm(3),
        RCRN: Candidate.encoder(rcrn, mask, None),
        NAIVE: Candidate.encoder(rcrn, mask, "naive"),
    }


def measure(kind: str, num_tokens: int, rounds: int, device: torch.device) -> dict[str, Any]:
    """Measure one row of the table; `rounds` are rounds on a CPU, and tenths of a second on a
    GPU.
    """
    torch.manual_seed(0)
    inputs = torch.randn(BATCH_SIZE, num_tokens, INPUT_SIZE, device=device)
    steps = {
        name: partial(getattr(candidate, kind), inputs)
        for name, candidate in candidates(num_tokens, device).items()
    }
    if device.type == "cpu":
        times = processor_times(steps, rounds)
    else:
        times = interleave(steps, rounds / 10, device)
    record = {
        "pass": {"training": "training step", "forward": "inference"}[kind],
        "num_tokens": num_tokens,
        "baseline_ms": 1000 * statistics.median(times[ONE]),
    }
    published = PUBLISHED[kind]
    for key, (name, other) in RATIOS.items():
        record[key] = median_ratio(times[name], times[other])
        if num_tokens in LENGTHS:
            index = LENGTHS.index(num_tokens)
            record[f"published_{key}"] = published[name][index] / published[other][index]
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="on a GPU, tenths of a second",
    )
    parser.add_argument(
        "--lengths",
        nargs="+",
        type=int,
        default=LENGTHS,
    )
    parser.add_argument("--device", default="cpu")
    default = "benchmarks/results/rcrn_runtime_<device>"
    parser.add_argument("--output", type=Path, help=f"without an ending; default: {default}")
    options = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    device = torch.device(options.device)
    info = machine(device)
    output = options.output or RESULTS / f"rcrn_runtime_{device.type}"
    records: list[dict[str, Any]] = []
    for kind in PUBLISHED:
        for num_tokens in options.lengths:
            records.append(measure(kind, num_tokens, options.rounds, device))
            save(output, info, records, COLUMNS)
    write(output, info, records, COLUMNS)


if __name__ == "__main__":
    main()
