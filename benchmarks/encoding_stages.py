"""Measure the stages of encoding sentences other than the network.

    python -m benchmarks.encoding_stages model.tar.gz ../shared/data/sick --threads 1

The distinct sentences of SICK are encoded by a `ArchiveEncoder`, in its usual form, and with
AllenNLP's instances instead of remembered indices. Times are CPU times, the median over the rounds.
"""

import argparse
import statistics
from pathlib import Path
from typing import Any, Callable

import torch

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files.tables import read_sentences
from allennlp_sentmatch.nn.precision import bfloat16_products
from allennlp_sentmatch.standalone.text_indexer import padded
from benchmarks.measure import processor_times
from benchmarks.report import RESULTS, machine, write

FILES = ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt")
COLUMNS = {"stage": "stage", "ms for 1,000 sentences": "milliseconds", "of all (%)": "percent"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", help="of a model with one token indexer of type single_id")
    parser.add_argument("sick", type=Path, help="the folder of SICK's three files")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=128)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    info = machine(torch.device("cpu"))
    columns = [
        (options.sick / file, name) for file in FILES for name in ("sentence_A", "sentence_B")
    ]
    sentences = list(dict.fromkeys(s for column in columns for s in read_sentences(*column)))
    info["sentences"] = len(sentences)
    encoder, slow = (ArchiveEncoder.from_archive(options.archive) for _ in range(2))
    slow.__dict__["indexer"] = None  # sets the cached property: without the shortcut
    model: Any = encoder._model
    indexer: Any = encoder.indexer
    rows = sorted(map(indexer.indices, sentences), key=len)
    batches = [rows[i : i + options.batch_size] for i in range(0, len(rows), options.batch_size)]
    tensors = [padded(batch) for batch in batches]

    @torch.no_grad()
    def network() -> None:
        for tensor in tensors:
            model.encode({"tokens": {"tokens": tensor}})

    def network_in_bfloat16() -> None:
        with bfloat16_products():
            network()

    stages: dict[str, Callable[[], object]] = {
        "all, strings to vectors": lambda: encoder.encode(sentences, batch_size=options.batch_size),
        "words and their indices": lambda: [indexer.indices(sentence) for sentence in sentences],
        "padding": lambda: [padded(batch) for batch in batches],
        "network": network,
        "network, products in bfloat16": network_in_bfloat16,
        "all, with AllenNLP's instances": lambda: slow.encode(
            sentences, batch_size=options.batch_size
        ),
    }
    times = processor_times(stages, options.rounds)
    medians = {name: statistics.median(runs) for name, runs in times.items()}
    records = [
        {
            "stage": name,
            "milliseconds": 1e6 * seconds / len(sentences),
            "percent": 100 * seconds / medians["all, strings to vectors"],
        }
        for name, seconds in medians.items()
    ]
    write(RESULTS / "encoding_stages_cpu", info, records, COLUMNS)


if __name__ == "__main__":
    main()
