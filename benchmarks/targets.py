"""Measure the speeds that have targets; print one table of figures and targets.

The results are written to benchmarks/results/.

    python -m benchmarks.targets              # one to two minutes for each number of threads
    python -m benchmarks.targets --runs 4     # four times that: the smallest and largest figures
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import torch

from allennlp_sentmatch.nn import SuffixBiLSTM
from benchmarks.cases import CASES
from benchmarks.encoders import measure
from benchmarks.measure import Candidate, interleave, keep_freed_memory, median_ratio
from benchmarks.report import RESULTS, machine, write

Targets = dict[str, tuple[float, str]]


def suffixes_one_by_one(device: torch.device, seconds: float, num_tokens: int = 32) -> float:
    """Return the time of an LSTM call for each suffix of a sentence, divided by SuBiLSTM's."""
    encoder = SuffixBiLSTM(300, 300).to(device)
    lstms = [torch.nn.LSTM(300, 300, batch_first=True).to(device) for _ in range(2)]
    inputs = torch.randn(1, num_tokens, 300, device=device)
    mask = torch.ones(1, num_tokens, dtype=torch.bool, device=device)

    def one_by_one(sentence: torch.Tensor) -> torch.Tensor:
        directions = zip(lstms, (sentence, sentence.flip(1)))
        # In the tied model, the states of the first suffix are the encodings of the prefixes.
        return torch.stack(
            [lstm(x[:, i:])[0][:, -1] for lstm, x in directions for i in range(num_tokens)]
        )

    candidates = {
        "one by one": Candidate(torch.nn.ModuleList(lstms), one_by_one),
        "together": Candidate.encoder(encoder, mask, None),
    }
    steps = {name: partial(x.forward, inputs) for name, x in candidates.items()}
    times = interleave(steps, seconds, device)
    return median_ratio(times["one by one"], times["together"])


def measure_all(device: torch.device, seconds: float) -> Targets:
    """Map the description of each figure to the figure and its target."""
    cases = {case.name: case for case in CASES}
    results: Targets = {}
    for name, num_tokens, batch_size, target in (
        ("cas_lstm", 25, 64, "at most 1.4 (CPU), 1.25 (CUDA)"),
        ("rcrn", 32, 32, "at most 1.1"),
        ("subilstm", 32, 32, "at most 1.5 * 9.25 = 13.9"),
        ("lstmn", 32, 32, "at most 3"),
    ):
        case = cases[name]
        what = (
            f"{name}, training step relative to a {case.baseline_name}'s "
            f"({batch_size} x {num_tokens} tokens, {case.input_size} -> {case.hidden_size})"
        )
        record = measure(case, num_tokens, batch_size, device, seconds)
        results[what] = record["training_ratio"], target
    results["speedup of subilstm over an LSTM call for each suffix, one sentence of 32 tokens"] = (
        suffixes_one_by_one(device, seconds),
        "at least 4",
    )
    tree = measure(cases["gumbel_tree_lstm"], 64, 32, device, seconds)
    what = (
        "speedup of gumbel_tree_lstm in evaluation over recomputing all candidates (32 x 64 tokens)"
    )
    results[what] = tree["naive_forward_ratio"] / tree["forward_ratio"], "at least 4"
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--threads",
        type=int,
        nargs="+",
        default=sorted({1, 2, torch.get_num_threads()}),
        help="measure with each of these numbers of threads",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=5.0,
        help="for each measurement",
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=1,
        help="measure everything this many times",
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="without an ending; by default benchmarks/results/targets_DEVICE",
    )
    options = parser.parse_args()
    keep_freed_memory()
    device = torch.device(options.device)
    info = machine(device)
    columns = {"measured": "what"}
    records: dict[str, dict[str, Any]] = {}
    for number in options.threads:
        torch.set_num_threads(number)
        columns["1 thread" if number == 1 else f"{number} threads"] = str(number)
        for _ in range(options.runs):
            for what, (measured, target) in measure_all(device, options.seconds).items():
                record = records.setdefault(what, {"what": what, "target": target})
                record.setdefault(str(number), []).append(measured)
    columns["target"] = "target"
    info["threads"] = options.threads
    info["runs"] = options.runs
    output = options.output or RESULTS / f"targets_{device.type}"
    write(output, info, list(records.values()), columns)


if __name__ == "__main__":
    main()
