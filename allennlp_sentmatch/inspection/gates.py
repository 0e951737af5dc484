r"""The values of a CAS-LSTM's vertical forget gates (thesis, section 4.4.5 and figure 4.4), and of
its memory cells (section 4.3.2: (-2, 2) in the first layer, (-3, 3) in the others, without lambda).

With v_t^l the vertical forget gate of layer l at token t (the paper's g_t^l), of dimensions i, and
o the output gate, figure 4.4 has for each layer from the second on the histograms of

    v_{t,i}^l                            (a), (b): of all values
    max_i v_{t,i}^l - min_i v_{t,i}^l    (c), (d): of the ranges
    |v_{t,i}^l - o_{t,i}^{l-1}|          (e), (f): of the differences from the lower output gate

over all tokens of a sample of sentences. The two directions of a bidirectional encoder have their
own ranges and share the histograms.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import lazy_groups_of
from allennlp.predictors import Predictor

from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.inspection.drawing import Drawing, figure_drawing, new_figure
from allennlp_sentmatch.nn import CellAwareLSTM, CellAwareLSTMDecoder
from allennlp_sentmatch.nn.evaluation_mode import evaluation_mode
from allennlp_sentmatch.predictors.classification_predictor import SentencePairPredictor

NUM_BINS = 50
#: The axis and its limits. Figure 4.4 has the first three.
QUANTITIES = {
    "gate": ("vertical forget gate", (0, 1)),
    "range": ("range within a token", (0, 1)),
    "difference": ("|vertical forget gate - lower output gate|", (0, 1)),
    "cell": ("memory cell", (-3, 3)),
}
GATES = ("gate", "range", "difference")


@dataclass(frozen=True)
class GateHistogram:
    """One histogram, in bins of equal width over [0, 1], or over [-3, 3] for cells."""

    layer: int
    """The layer, counted from 1 as in the paper, so that the first one with a vertical gate is
    2.
    """
    quantity: str
    """"gate", "range", "difference" or "cell"."""
    counts: list[int]
    """The number of values in each bin; the outermost bins include values beyond the limits."""
    mean: float
    standard_deviation: float
    minimum: float
    maximum: float


def has_vertical_gates(model: torch.nn.Module) -> bool:
    """Return whether a model has a CAS-LSTM of at least two layers that reads whole sentences."""
    return any(_stacks(model))


def is_lone_sentence(predictor: Predictor, inputs: dict[str, Any]) -> bool:
    """Return whether the input of a predictor for pairs is only a `sentence`."""
    return isinstance(predictor, SentencePairPredictor) and set(inputs) == {"sentence"}


def collect_gates(
    predictor: Predictor, inputs: Iterable[dict[str, Any]], batch_size: int = 64
) -> list[GateHistogram]:
    """Compute a histogram of figure 4.4 for each layer of a model and each quantity that it has.

    The predictor's model must contain a CAS-LSTM, and the `inputs` are JSON objects that the
    predictor takes; a predictor for pairs also takes objects with only a `sentence`, which the
    model's encoder reads. Raises `ConfigurationError` for a model without a CAS-LSTM of at least
    two layers, and if no sentence has a token.
    """
    model = predictor._model
    stacks = list(_stacks(model))
    if not stacks:
        raise ConfigurationError(
            f"{type(model).__name__} has no vertical gates: no CAS-LSTM of two layers or more"
        )
    # By layer and quantity: the number of values, their sum, the sum of their squares, the counts
    sums: dict[tuple[int, str], Any] = defaultdict(lambda: numpy.zeros(3 + NUM_BINS))
    extremes: dict[tuple[int, str], list[float]] = defaultdict(list)
    thread = threading.get_ident()

    def collect(stack: CellAwareLSTM, arguments: tuple[torch.Tensor, torch.Tensor]) -> None:
        inputs, mask = arguments
        if threading.get_ident() != thread or not mask.any():
            return  # another caller's sentences, or sentences without tokens
        _, layers = stack.forward(inputs, mask, return_gates=True)  # a call would recurse
        for layer, directions in enumerate(layers, start=1):
            for direction, here in enumerate(directions):
                quantities = {}
                if here.vertical is not None:
                    gate = here.vertical[mask]  # (number of tokens, H)
                    below = layers[layer - 2][direction].output[mask]
                    quantities["gate"] = gate
                    quantities["range"] = gate.amax(1) - gate.amin(1)
                    quantities["difference"] = (gate - below).abs()
                quantities["cell"] = here.cell[mask]
                for name, tensor in quantities.items():
                    values = tensor.double().cpu().numpy().ravel()
                    _, limits = QUANTITIES[name]
                    counts, _ = numpy.histogram(values.clip(*limits), NUM_BINS, limits)
                    moments = values.size, values.sum(), numpy.square(values).sum()
                    sums[layer, name] += [*moments, *counts]
                    extremes[layer, name] += [values.min(), values.max()]

    with ExitStack() as hooks, evaluation_mode(model):
        for stack in stacks:
            hooks.enter_context(stack.register_forward_pre_hook(collect))
        for batch in lazy_groups_of(inputs, batch_size):
            sentences = [one["sentence"] for one in batch if is_lone_sentence(predictor, one)]
            if sentences:
                ArchiveEncoder(model, predictor._dataset_reader).encode(sentences)
            others = [one for one in batch if not is_lone_sentence(predictor, one)]
            if others:
                predictor.predict_batch_json(others)
    if not sums:
        raise ConfigurationError("the sentences have no token, and so no gates")
    histograms = []
    for layer, name in sorted(sums, key=itemgetter(0)):
        number, total, squares, *counts = sums[layer, name].tolist()
        mean = total / number
        deviation = max(0.0, squares / number - mean**2) ** 0.5
        ends = float(min(extremes[layer, name])), float(max(extremes[layer, name]))
        counts = list(map(int, counts))
        histograms.append(GateHistogram(layer, name, counts, mean, deviation, *ends))
    return histograms


def draw_gates(
    title: str, histograms: list[GateHistogram], quantities: Sequence[str] = GATES
) -> Drawing:
    """Draw histograms of `collect_gates`, a row for each quantity and a column for each layer."""
    histograms = [histogram for histogram in histograms if histogram.quantity in quantities]
    layers = sorted({histogram.layer for histogram in histograms})
    figure = new_figure(3.6 * len(layers), 2.4 * len(quantities))
    all_axes = figure.subplots(len(quantities), len(layers), squeeze=False)
    for histogram in histograms:
        label, limits = QUANTITIES[histogram.quantity]
        edges = numpy.linspace(*limits, NUM_BINS + 1)
        row = list(quantities).index(histogram.quantity)
        axes = all_axes[row, layers.index(histogram.layer)]
        centers = (edges[1:] + edges[:-1]) / 2
        axes.hist(centers, bins=NUM_BINS, range=limits, density=True, weights=histogram.counts)
        axes.set(xlim=limits, xlabel=label, ylabel="Density")
        figures = f"{histogram.mean:.2f} ± {histogram.standard_deviation:.2f}"
        if histogram.quantity == "cell":
            figures = f"{histogram.minimum:.2f} to {histogram.maximum:.2f}"
        axes.set_title(f"layer {histogram.layer}: {figures}", fontsize="medium")
    return figure_drawing(title, figure)


def _stacks(model: torch.nn.Module) -> Iterator[CellAwareLSTM]:
    """Yield the encoders' CAS-LSTMs; decoders, which read token by token, are left out."""
    decoding = [m.lstm for m in model.modules() if isinstance(m, CellAwareLSTMDecoder)]
    for module in model.modules():
        if isinstance(module, CellAwareLSTM) and module.num_layers > 1 and module not in decoding:
            yield module
