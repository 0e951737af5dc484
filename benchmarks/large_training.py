r"""Measure training on as many pairs as SNLI has: memory, and the time of the input pipeline.

The data are a small file of pairs, repeated. With fewer pairs than SNLI has, the memory is
extrapolated to SNLI's, in proportion to the number of pairs. The input pipeline is measured over
all batches of an epoch, the model (forward, backward, optimizer) on some of them. Times are the
processor's on one thread. The results are written to benchmarks/results/.

    python -m benchmarks.large_training training_config/snli/cas_lstm.jsonnet \
        path/to/snli_1.0_dev.jsonl.gz --overrides training_config/local/from_scratch.json
"""

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, TensorDict, Vocabulary
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.files.lines import read_lines
from benchmarks.measure import status
from benchmarks.report import RESULTS, machine, write

COLUMNS = {
    "part": "part",
    "seconds": "seconds",
    "share of an epoch": "share",
    "memory afterwards, MB": "megabytes",
}
SNLI = 549_367
"""The number of SNLI's training pairs with a label."""
WARM_UP = 3


Records = dict[str, dict[str, Any]]


@contextmanager
def part(records: Records, name: str) -> Iterator[None]:
    """Record the processor time of the context, and the memory after it."""
    start = time.process_time()
    yield
    seconds = time.process_time() - start
    records[name] = {"part": name, "seconds": seconds, "megabytes": status("VmRSS") / 1e6}


def repeat(source: Path, target: Path, number: int) -> None:
    """Write a file of `number` lines, which repeat the lines of `source`."""
    lines = [line for _, line in read_lines(source)]
    with open(target, "w", encoding="utf-8") as file:
        for position in range(number):
            file.write(lines[position % len(lines)])


class Measured(NamedTuple):
    """The result of `measure`."""

    records: Records
    grown: int
    """The memory of the data, in bytes."""
    facts: dict[str, int]


def measure(params: Params, source: Path, num_pairs: int, steps: int) -> Measured:
    """Measure the parts of a training on `num_pairs` pairs, which repeat the lines of `source`.

    The model is trained on `steps` batches, from which an epoch is extrapolated.
    """
    records: Records = {}
    before = status("VmRSS")
    with TemporaryDirectory() as folder:
        data = Path(folder, "pairs.jsonl")
        repeat(source, data, num_pairs)
        with part(records, "reading"):
            reader = DatasetReader.from_params(params["dataset_reader"])
            loader = DataLoader.from_params(params["data_loader"], reader=reader, data_path=data)
    with part(records, "vocabulary"):
        vocabulary = Vocabulary.from_instances(loader.iter_instances())
    with part(records, "indexing"):
        loader.index_with(vocabulary)
    grown = status("VmRSS") - before
    num_read = sum(1 for _ in loader.iter_instances())
    model = Model.from_params(params["model"], vocab=vocabulary)
    optimizer = Optimizer.from_params(
        params["trainer"]["optimizer"], model_parameters=list(model.named_parameters())
    )
    chosen = set(random.Random(0).sample(range(len(loader)), min(steps, len(loader))))
    batches = []
    with part(records, "epoch: input pipeline"):
        for position, batch in enumerate(loader):
            if position in chosen:
                batches.append(batch)
    seconds = seconds_of_steps(model, optimizer, batches) / len(batches) * len(loader)
    of_model = {"part": "epoch: model", "seconds": seconds, "megabytes": status("VmRSS") / 1e6}
    records["epoch: model"] = of_model
    facts = {
        "pairs": num_read,
        "batches": len(loader),
        "batches_of_the_model": len(batches),
        "vocabulary": vocabulary.get_vocab_size("tokens"),
    }
    return Measured(records, grown, facts)


def seconds_of_steps(model: Model, optimizer: Optimizer, batches: list[TensorDict]) -> float:
    """Return the processor seconds of a training step on each batch, after a warm-up."""
    model.train()
    start = 0.0
    for number, batch in enumerate(batches[:WARM_UP] + batches):
        if number == WARM_UP:
            start = time.process_time()
        optimizer.zero_grad()
        model(**batch)["loss"].backward()
        optimizer.step()
    return time.process_time() - start


def main() -> None:
    """Run the measurement and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("data", type=Path, help="a file of pairs, one on each line")
    parser.add_argument("--overrides", type=Path, help="a JSON file of overrides")
    parser.add_argument("--pairs", type=int, default=550_000)
    parser.add_argument(
        "--steps", type=int, default=40, help="batches that the model is trained on"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    info = machine(torch.device("cpu"))
    overrides = options.overrides.read_text() if options.overrides else ""
    params = Params.from_file(options.config, overrides)
    params["data_loader"].pop("batches_per_epoch", None)  # an epoch is a pass
    found = measure(params, options.data, options.pairs, options.steps)
    epoch = [record for name, record in found.records.items() if name.startswith("epoch")]
    whole = sum(record["seconds"] for record in epoch)
    for record in epoch:
        record["share"] = f"{record['seconds'] / whole:.1%}"
    peak = status("VmHWM")
    rows = [*found.records.values(), {"part": "largest memory", "megabytes": peak / 1e6}]
    num_pairs = found.facts["pairs"]
    if num_pairs < SNLI:
        expected = peak + found.grown * (SNLI / num_pairs - 1)
        title = f"largest memory with {SNLI} pairs, expected"
        rows.append({"part": title, "megabytes": expected / 1e6})
    info.update(found.facts)
    info["configuration"] = options.config.as_posix()
    name = "_".join(["large_training", *options.config.with_suffix("").parts[-2:]])
    write(RESULTS / name, info, rows, COLUMNS)


if __name__ == "__main__":
    main()
