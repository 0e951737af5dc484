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

import math
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict, lazy_groups_of
from allennlp.predictors import Predictor
from torch import Tensor

from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.inspection.drawing import Drawing, figure_drawing, new_figure
from allennlp_sentmatch.nn import CellAwareLSTM, CellAwareLSTMDecoder, CellAwareLSTMGates
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
    """One histogram, in 50 bins of equal width over [0, 1], or over [-3, 3] for cells.

    # Attributes

    layer : `int`
        The layer, counted from 1 as in the paper: the first one with a vertical gate is 2.
    quantity : `str`
        "gate", "range", "difference" or "cell".
    counts : `list[int]`
        The number of values in each bin; the outermost bins include values beyond the limits.
    mean, standard_deviation, minimum, maximum : `float`
        Of all values, those beyond the limits included.
    """

    layer: int
    quantity: str
    counts: list[int]
    mean: float
    standard_deviation: float
    minimum: float
    maximum: float


def has_vertical_gates(model: torch.nn.Module) -> bool:
    """Return whether a model has a CAS-LSTM of at least two layers that reads whole sentences."""
    return any(_stacks(model))


def is_lone_sentence(predictor: Predictor, inputs: JsonDict) -> bool:
    """Return whether the input of a predictor for pairs is only a `sentence`."""
    return isinstance(predictor, SentencePairPredictor) and set(inputs) == {"sentence"}


def collect_gates(
    predictor: Predictor, inputs: Iterable[JsonDict], batch_size: int = 64
) -> list[GateHistogram]:
    """Compute a histogram of figure 4.4 for each layer of a model and each quantity that it has.

    # Parameters

    predictor : `Predictor`
        A predictor whose model contains a CAS-LSTM.
    inputs : `Iterable[JsonDict]`
        JSON objects that the predictor takes. A predictor for pairs also takes objects with only a
        `sentence`, which the model's encoder reads.
    batch_size : `int`, optional (default = `64`)
        The number of inputs that are read together.

    # Raises

    `ConfigurationError` for a model without a CAS-LSTM of at least two layers, and if no sentence
    has a token.
    """
    model = predictor._model
    stacks = list(_stacks(model))
    if not stacks:
        raise ConfigurationError(
            f"{type(model).__name__} has no vertical gates: no CAS-LSTM of two layers or more"
        )
    summaries: dict[tuple[int, str], list[list[float]]] = defaultdict(list)
    thread = threading.get_ident()

    def collect(stack: CellAwareLSTM, arguments: tuple[Tensor, Tensor]) -> None:
        inputs, mask = arguments
        if threading.get_ident() != thread or not mask.any():
            return  # another caller's sentences, or sentences without tokens
        _, layers = stack.forward(inputs, mask, return_gates=True)  # a call would recurse
        for layer, quantity, values in _quantities(layers, mask):
            summaries[layer, quantity].append(_summary(quantity, values))

    with ExitStack() as hooks, evaluation_mode(model):
        for stack in stacks:
            hooks.enter_context(stack.register_forward_pre_hook(collect))
        for batch in lazy_groups_of(inputs, batch_size):
            _predict(predictor, batch)
    if not summaries:
        raise ConfigurationError("the sentences have no token, and so no gates")
    by_layer = sorted(summaries.items(), key=lambda item: item[0][0])
    return [_histogram(layer, quantity, parts) for (layer, quantity), parts in by_layer]


def _predict(predictor: Predictor, inputs: Iterable[JsonDict]) -> None:
    """Let the model read the texts of inputs, whatever it predicts."""
    sentences = []
    others = []
    for json_dict in inputs:
        if is_lone_sentence(predictor, json_dict):
            sentences.append(json_dict["sentence"])
        else:
            others.append(json_dict)
    if sentences:
        encoder = ArchiveEncoder(predictor._model, predictor._dataset_reader)
        encoder.encode(sentences)
    if others:
        predictor.predict_batch_json(others)


def _quantities(
    layers: Sequence[Sequence[CellAwareLSTMGates]], mask: Tensor
) -> Iterator[tuple[int, str, Tensor]]:
    """Yield the layer, the name and the values of each quantity at the N unmasked tokens.

    `layers` has the gates of each layer and direction. The values have the shape (N, H), and those
    of a range (N,).
    """
    for index, directions in enumerate(layers):
        layer = index + 1
        for direction, here in enumerate(directions):
            if here.vertical is not None:
                lower = layers[index - 1][direction]
                gate = here.vertical[mask]
                difference = gate - lower.output[mask]
                yield layer, "gate", gate
                yield layer, "range", gate.amax(1) - gate.amin(1)
                yield layer, "difference", difference.abs()
            yield layer, "cell", here.cell[mask]


def _summary(quantity: str, tensor: Tensor) -> list[float]:
    """Return the extremes, the sum, the sum of the squares and the counts of some values."""
    values = tensor.double().cpu().numpy().ravel()
    squares = numpy.square(values)
    _, limits = QUANTITIES[quantity]
    counts, _ = numpy.histogram(values.clip(*limits), NUM_BINS, limits)
    return [values.min(), values.max(), values.sum(), squares.sum(), *counts]


def _histogram(layer: int, quantity: str, summaries: Sequence[Sequence[float]]) -> GateHistogram:
    """Return the histogram of the values that `_summary` has described in parts."""
    table = numpy.array(summaries)
    total, squares, *counts = table[:, 2:].sum(axis=0).tolist()
    number = sum(counts)
    mean = total / number
    variance = max(0.0, squares / number - mean**2)
    return GateHistogram(
        layer,
        quantity,
        counts=[int(count) for count in counts],
        mean=mean,
        standard_deviation=math.sqrt(variance),
        minimum=float(table[:, 0].min()),
        maximum=float(table[:, 1].max()),
    )


def draw_gates(
    title: str, histograms: list[GateHistogram], quantities: Sequence[str] = GATES
) -> Drawing:
    """Draw histograms of `collect_gates`, a row for each quantity and a column for each layer.

    Histograms of other quantities are left out. Raise `ConfigurationError` without the extra
    [plots].
    """
    drawn = [histogram for histogram in histograms if histogram.quantity in quantities]
    layers = sorted({histogram.layer for histogram in drawn})
    figure = new_figure(3.6 * len(layers), 2.4 * len(quantities))
    all_axes = figure.subplots(len(quantities), len(layers), squeeze=False)
    for histogram in drawn:
        row = quantities.index(histogram.quantity)
        column = layers.index(histogram.layer)
        _draw_histogram(all_axes[row, column], histogram)
    return figure_drawing(title, figure)


def _draw_histogram(axes: Any, histogram: GateHistogram) -> None:
    label, limits = QUANTITIES[histogram.quantity]
    edges = numpy.linspace(*limits, NUM_BINS + 1)
    centers = (edges[1:] + edges[:-1]) / 2
    axes.hist(
        centers,
        bins=NUM_BINS,
        range=limits,
        density=True,
        weights=histogram.counts,
    )
    axes.set(xlim=limits, xlabel=label, ylabel="Density")
    figures = f"{histogram.mean:.2f} ± {histogram.standard_deviation:.2f}"
    if histogram.quantity == "cell":
        figures = f"{histogram.minimum:.2f} to {histogram.maximum:.2f}"
    axes.set_title(f"layer {histogram.layer}: {figures}", fontsize="medium")


def _stacks(model: torch.nn.Module) -> Iterator[CellAwareLSTM]:
    """Yield the encoders' CAS-LSTMs; decoders, which read token by token, are left out."""
    modules = list(model.modules())
    decoding = [module.lstm for module in modules if isinstance(module, CellAwareLSTMDecoder)]
    stacks = [module for module in modules if isinstance(module, CellAwareLSTM)]
    for stack in stacks:
        if stack.num_layers > 1 and stack not in decoding:
            yield stack
