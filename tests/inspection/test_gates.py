"""The histograms of figure 4.4 and of cells, against the paper's equations token by token."""

import re
from typing import NamedTuple

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.inspection import (
    collect_gates,
    draw_gates,
    draw_into_folder,
    has_vertical_gates,
)
from allennlp_sentmatch.nn import CellAwareLSTM

SENTENCES = [
    {"sentence": "who was it ?"},
    {"sentence": "where"},
    {"sentence": "when and how ?"},
]


CAS_LSTM = {
    "type": "cas_lstm",
    "input_size": 4,
    "hidden_size": 3,
}


def pooled(**settings):
    encoder = {**CAS_LSTM, **settings}
    return {
        "type": "pooled",
        "encoder": encoder,
        "pooling": "max",
    }


@pytest.fixture
def predictor(untrained_predictor):
    """Return a predictor with larger parameters, so that the gates differ."""
    encoder = pooled(num_layers=3, bidirectional=True)
    predictor = untrained_predictor("sentence_classifier", encoder=encoder)
    for parameter in predictor._model.parameters():
        parameter.data.mul_(4)
    return predictor


class Steps(NamedTuple):
    """What a layer computes at each step of a sentence; the lowest has no vertical gates."""

    hidden: list
    output_gates: list
    vertical_gates: list
    cells: list


def read_layer(stack, layer, suffix, inputs, lower_cells):
    """Return the steps of a layer for one sentence, by loops: eqs 3, 9 and 12."""
    W = getattr(stack, f"weight_ih_l{layer}{suffix}")
    U = getattr(stack, f"weight_hh_l{layer}{suffix}")
    b = getattr(stack, f"bias_l{layer}{suffix}")
    h = torch.zeros(3)
    c = torch.zeros(3)
    steps = Steps([], [], [], [])
    for t, x in enumerate(inputs):
        blocks = (W @ x + U @ h + b).split(3)
        i, f, o = (torch.sigmoid(blocks[k]) for k in (0, 1, 3))
        g = blocks[2].tanh()
        if layer == 0:
            c = i * g + f * c
        else:
            v = torch.sigmoid(blocks[4])
            c = i * g + 0.5 * f * c + 0.5 * v * lower_cells[t]
            steps.vertical_gates.append(v)
        h = o * c.tanh()
        steps.hidden.append(h)
        steps.output_gates.append(o)
        steps.cells.append(c)
    return steps


def read_layers(stack, embedded, suffix):
    """Return the steps of each layer for one sentence's vectors (T, D)."""
    layers = []
    inputs = embedded
    lower_cells = None
    for layer in range(stack.num_layers):
        steps = read_layer(stack, layer, suffix, inputs, lower_cells)
        layers.append(steps)
        inputs = steps.hidden
        lower_cells = steps.cells
    return layers


def add_values(values, layers):
    """Add the gates, their ranges and differences, and the cells of a sentence."""
    for number, layer in enumerate(layers, start=1):
        values[number, "cell"] += torch.stack(layer.cells).flatten().tolist()
    for number, (lower, layer) in enumerate(zip(layers, layers[1:]), start=2):
        for v, o in zip(layer.vertical_gates, lower.output_gates):
            values[number, "gate"] += v.tolist()
            values[number, "range"].append((v.max() - v.min()).item())
            values[number, "difference"] += (v - o).abs().tolist()


HISTOGRAMS = [
    (1, "cell"),
    (2, "gate"),
    (2, "range"),
    (2, "difference"),
    (2, "cell"),
    (3, "gate"),
    (3, "range"),
    (3, "difference"),
    (3, "cell"),
]
"""The layer, from 1, and the quantity of each."""


@torch.no_grad()
def test_the_histograms_are_those_of_the_equations(predictor):
    model = predictor._model
    (stack,) = (module for module in model.modules() if isinstance(module, CellAwareLSTM))
    (embedding,) = model._text_field_embedder._token_embedders.values()
    values = {key: [] for key in HISTOGRAMS}
    for sentence in SENTENCES:
        instance = predictor._json_to_instance(sentence)
        ids = [model.vocab.get_token_index(str(token)) for token in instance["tokens"]]
        embedded = embedding.weight[ids]
        add_values(values, read_layers(stack, embedded, ""))
        add_values(values, read_layers(stack, embedded.flip(0), "_reverse"))
    histograms = collect_gates(predictor, SENTENCES, batch_size=2)
    assert [(found.layer, found.quantity) for found in histograms] == HISTOGRAMS
    for histogram in histograms:
        check_histogram(histogram, values[histogram.layer, histogram.quantity])


def check_histogram(histogram, values):
    limits = (-3, 3) if histogram.quantity == "cell" else (0, 1)
    counts, _ = numpy.histogram(numpy.clip(values, *limits), bins=50, range=limits)
    # Rounding may move a value at the edge of two bins to either side.
    assert numpy.abs(counts - histogram.counts).sum() <= 2
    assert sum(histogram.counts) == len(values)
    assert histogram.mean == pytest.approx(numpy.mean(values), abs=1e-6)
    assert histogram.standard_deviation == pytest.approx(numpy.std(values), abs=1e-6)
    assert histogram.minimum == pytest.approx(min(values), abs=1e-6)
    assert histogram.maximum == pytest.approx(max(values), abs=1e-6)


@pytest.fixture
def predictor_of_pairs(untrained_predictor):
    return untrained_predictor("similarity_regressor", encoder=pooled())


FIRST = SENTENCES[0]


LAST = SENTENCES[2]


PAIR = {"premise": FIRST["sentence"], "hypothesis": LAST["sentence"]}


def test_a_model_of_pairs_reads_sentences(predictor_of_pairs):
    num_words = sum(len(one["sentence"].split()) for one in SENTENCES)
    of_sentences = collect_gates(predictor_of_pairs, SENTENCES)
    assert sum(of_sentences[0].counts) == 3 * num_words
    expected = collect_gates(predictor_of_pairs, [PAIR])[0].counts
    assert collect_gates(predictor_of_pairs, [FIRST, LAST])[0].counts == expected
    mixed = collect_gates(predictor_of_pairs, [FIRST, PAIR, LAST])
    assert mixed[0].counts == [2 * count for count in expected]


def test_a_sentence_among_pairs_has_no_saliency(predictor_of_pairs, tmp_path):
    folder = tmp_path / "drawn"
    assert list(draw_into_folder(folder, {"": predictor_of_pairs}, [FIRST, PAIR])) == []
    drawn = {file.name for file in folder.glob("*.*l")}
    assert drawn == {"0002_saliency_simple_gradients.html"}


def test_the_picture_of_cells_names_their_extremes(predictor):
    pytest.importorskip("seaborn")
    histograms = collect_gates(predictor, SENTENCES)
    picture = draw_gates("Memory cells", histograms, ["cell"]).content
    cells = [histogram for histogram in histograms if histogram.quantity == "cell"]
    assert len(cells) == 3
    for histogram in cells:
        extremes = f"{histogram.minimum:.2f} to {histogram.maximum:.2f}"
        assert f">layer {histogram.layer}: {extremes}<" in picture


def test_what_has_no_gates_is_refused(untrained_predictor, predictor):
    other = untrained_predictor("sentence_classifier")
    assert not has_vertical_gates(other._model)
    with pytest.raises(ConfigurationError, match="no CAS-LSTM"):
        collect_gates(other, SENTENCES)
    with pytest.raises(ConfigurationError, match="no token"):
        collect_gates(predictor, [])


def test_the_picture_has_a_histogram_for_each(predictor):
    """The layers are side by side, and the quantities below each other."""
    pytest.importorskip("seaborn")
    picture = draw_gates("Gates", collect_gates(predictor, SENTENCES)).content
    titles = re.findall(r'<text[^>]*x="([\d.]+)"[^>]*y="([\d.]+)"[^>]*>layer (\d): ', picture)
    assert [layer for *_, layer in titles] == ["2", "3"] * 3
    lefts = numpy.array([float(x) for x, _, _ in titles]).reshape(3, 2)
    heights = numpy.array([float(y) for _, y, _ in titles]).reshape(3, 2)
    assert numpy.ptp(heights, axis=1) == pytest.approx(0)
    assert (numpy.diff(heights, axis=0) > 0).all()
    assert (numpy.diff(lefts) > 0).all()
    # One layer's histograms fit a page of 400 pixels.
    points = float(re.search(r'width="([\d.]+)pt"', picture)[1])
    assert points * 4 / 3 / 2 <= 400
