"""Time R-NET with several encoders, and its matching layers with torch's BiGRU; print one table.

A training step is a forward and a backward pass over 32 questions of 10 to 12 tokens about passages
of 167 to 200; the model is the paper's with 75 dimensions and reads vectors of 175. Times are the
processor's, on one thread: other processes lengthen them less than wall-clock times. The
results are written to benchmarks/results/.

    python -m benchmarks.reading_comprehension     # two minutes
"""

import argparse
import statistics
from collections.abc import Iterator
from typing import Any, Callable, Optional

import torch
from allennlp.common import Params
from allennlp.modules import Seq2SeqEncoder
from torch import Tensor

import allennlp_sentmatch  # noqa: F401  (registers the encoders)
from allennlp_sentmatch.nn import StackedRNN, use_backend
from allennlp_sentmatch.nn.ops.backends import Name
from allennlp_sentmatch.nn.rnet import (
    GatedMatching,
    GatedSelfMatching,
    PointerNetwork,
    QuestionPooling,
)
from benchmarks.measure import keep_freed_memory, median_ratio, processor_times
from benchmarks.report import RESULTS, machine, write

BATCH_SIZE = 32
PASSAGE_LENGTH = 200
QUESTION_LENGTH = 12
INPUT_SIZE = 175
H = 75
E = 2 * H

BIGRU = {"type": "stacked_rnn", "cell": "gru", "bidirectional": True}
ENCODERS: dict[str, dict[str, Any]] = {
    "BiGRU, 3 layers": {**BIGRU, "num_layers": 3},
    "BiGRU, 3 layers, AllenNLP's gru": {"type": "gru", "num_layers": 3, "bidirectional": True},
    "BiGRU, 1 layer": BIGRU,
    "RCRN (GRU)": {"type": "rcrn", "cell": "gru"},
}

COLUMNS = {
    "part": "part",
    "parameters": "parameters",
    "training step, ms": "step_ms",
    "relative to torch's BiGRU": "ratio",
}

Case = tuple[torch.nn.Module, Callable[[], None]]


class RNet(torch.nn.Module):
    """R-NET after the embeddings."""

    def __init__(self, encoder: dict[str, Any]) -> None:
        super().__init__()
        settings = {"input_size": INPUT_SIZE, "hidden_size": H, **encoder}
        self.encoder = Seq2SeqEncoder.from_params(Params(settings))
        self.matching = GatedMatching(E, E, H)
        self.self_matching = GatedSelfMatching(E, H)
        self.pooling = QuestionPooling(E, H)
        self.pointers = PointerNetwork(E, E, H)

    def forward(self, passage: Tensor, mask: Tensor, question: Tensor, other: Tensor) -> Tensor:
        """Return the scores of the start and of the end."""
        passage = self.encoder(passage, mask)
        question = self.encoder(question, other)
        matched, _ = self.self_matching(self.matching(passage, mask, question, other)[0], mask)
        return torch.stack(self.pointers(matched, mask, self.pooling(question, other)[0]))


def tokens(num_tokens: int, size: int) -> tuple[Tensor, Tensor]:
    inputs = torch.randn(BATCH_SIZE, num_tokens, size, requires_grad=True)
    shortest = num_tokens - num_tokens // 6
    lengths = torch.linspace(shortest, num_tokens, BATCH_SIZE).long()
    return inputs, torch.arange(num_tokens) < lengths[torch.randperm(BATCH_SIZE)].unsqueeze(1)


def training_step(
    module: torch.nn.Module, *inputs: Tensor, backend: Optional[Name] = None
) -> Callable[[], None]:
    def step() -> None:
        module.zero_grad(set_to_none=True)
        with use_backend(backend):
            outputs = module(*inputs)
        while not isinstance(outputs, Tensor):
            outputs = outputs[0]
        outputs.sum().backward()

    return step


def cases() -> Iterator[tuple[str, Case]]:
    """Yield the baseline first."""
    passage = tokens(PASSAGE_LENGTH, E)
    question = tokens(QUESTION_LENGTH, E)
    gru = StackedRNN(2 * E, H, cell="gru", bidirectional=True)
    matching = GatedMatching(E, E, H)
    self_matching = GatedSelfMatching(E, H)
    gated = tokens(PASSAGE_LENGTH, 2 * E)  # has the input size of the layers' GRUs
    reference = "torch's BiGRU, as in both matching layers"
    yield reference, (gru, training_step(gru, *gated, backend="naive"))
    yield "the same BiGRU, compiled", (gru, training_step(gru, *gated))
    for name, module, inputs in (
        ("gated matching", matching, (*passage, *question)),
        ("gated self-matching", self_matching, passage),
    ):
        yield name, (module, training_step(module, *inputs))
        yield f"{name}, naive", (module, training_step(module, *inputs, backend="naive"))
    embedded = (*tokens(PASSAGE_LENGTH, INPUT_SIZE), *tokens(QUESTION_LENGTH, INPUT_SIZE))
    for name, encoder in ENCODERS.items():
        model = RNet(encoder)
        yield f"R-NET, {name}", (model, training_step(model, *embedded))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    keep_freed_memory()
    info = machine(torch.device("cpu"))
    measured = dict(cases())
    seconds = processor_times({name: step for name, (_, step) in measured.items()}, options.rounds)
    baseline = next(iter(seconds.values()))
    records = [
        {
            "part": name,
            "parameters": sum(p.numel() for p in measured[name][0].parameters()),
            "step_ms": 1000 * statistics.median(times),
            "ratio": median_ratio(times, baseline),
        }
        for name, times in seconds.items()
    ]
    write(RESULTS / "reading_comprehension_cpu", info, records, COLUMNS)


if __name__ == "__main__":
    main()
