"""Time the three models of training_config/multi30k/, in training and in decoding; print one table.

A training step is a forward and a backward pass over 160 pairs of 12 to 16 tokens, and decoding is
the time of 100 sentences by the configurations' beam search of 10, 20 steps long. Source and target
have 6,000 subwords each. Times are the processor's, on one thread: other processes lengthen them
less than wall-clock times. The results are written to benchmarks/results/.

    python -m benchmarks.translation     # three minutes
"""

import argparse
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Vocabulary
from allennlp.models import Model

import allennlp_sentmatch  # noqa: F401  (registers the model)
from benchmarks.measure import keep_freed_memory, median_ratio, processor_times
from benchmarks.report import RESULTS, machine, write

CONFIGURATIONS = Path(__file__).resolve().parents[1] / "training_config" / "multi30k"

MODELS = {
    "LSTM": "lstm",
    "CAS-LSTM": "cas_lstm",
    "247-dimensional CAS-LSTM": "cas_lstm_247d",
}

NUM_PAIRS = 160
NUM_DECODED = 100
LENGTH = 16
NUM_STEPS = 20
NUM_SUBWORDS = 6000

COLUMNS = {
    "model": "model",
    "parameters": "parameters",
    "training step, ms": "step_ms",
    "relative to the LSTM": "step_ratio",
    "target tokens/s in training": "training_tokens_per_second",
    "decoding 100 sentences, ms": "decoding_ms",
    "relative to the LSTM's": "decoding_ratio",
}


def build(name: str) -> Model:
    """Return a configuration's model with a made-up vocabulary."""
    vocabulary = Vocabulary()
    subwords = [str(index) for index in range(NUM_SUBWORDS)]
    vocabulary.add_tokens_to_namespace(subwords, "source_tokens")
    vocabulary.add_tokens_to_namespace([START_SYMBOL, END_SYMBOL, *subwords], "target_tokens")
    # Nothing is converted to text, so no byte pair encoding is needed.
    overrides = {"model.target_tokenizer": None, "model.beam_search.max_steps": NUM_STEPS}
    params = Params.from_file(CONFIGURATIONS / f"{name}.jsonnet", overrides)
    return Model.from_params(params["model"], vocab=vocabulary)


def batch(num_pairs: int) -> dict[str, Any]:
    """Return a batch of pairs of 12 to 16 tokens."""
    lengths = torch.linspace(LENGTH - LENGTH // 4, LENGTH, num_pairs).long()
    inside = torch.arange(LENGTH) < lengths.unsqueeze(1)  # (B, T)
    tokens = torch.randint(10, NUM_SUBWORDS, (2, num_pairs, LENGTH)) * inside
    source, target = ({"tokens": {"tokens": indices}} for indices in tokens)
    return {"source_tokens": source, "target_tokens": target, "metadata": [{}] * num_pairs}


def training_step(model: Model, inputs: dict[str, Any]) -> None:
    model.train()
    model.zero_grad(set_to_none=True)
    model(**inputs)["loss"].backward()


def decode(model: Model, inputs: dict[str, Any]) -> None:
    model.eval()
    with torch.inference_mode():
        model(inputs["source_tokens"], inputs["metadata"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    keep_freed_memory()
    info = machine(torch.device("cpu"))
    models = {title: build(name) for title, name in MODELS.items()}
    trained = batch(NUM_PAIRS)
    decoded = batch(NUM_DECODED)
    tasks: dict[str, Callable[[Model], None]] = {
        "step": lambda model: training_step(model, trained),
        "decoding": lambda model: decode(model, decoded),
    }
    steps = {
        (task, title): partial(run, model)
        for task, run in tasks.items()
        for title, model in models.items()
    }
    seconds = processor_times(steps, options.rounds)
    baseline = next(iter(models))
    num_targets = int((trained["target_tokens"]["tokens"]["tokens"][:, 1:] > 0).sum())
    records = []
    for title, model in models.items():
        record: dict[str, Any] = {"model": title}
        record["parameters"] = sum(p.numel() for p in model.parameters())
        for task in tasks:
            times = seconds[task, title]
            record[f"{task}_ms"] = 1000 * statistics.median(times)
            record[f"{task}_ratio"] = median_ratio(times, seconds[task, baseline])
        record["training_tokens_per_second"] = 1000 * num_targets / record["step_ms"]
        records.append(record)
    write(RESULTS / "translation_cpu", info, records, COLUMNS)


if __name__ == "__main__":
    main()
