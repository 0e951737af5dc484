"""The histograms of figure 4.4 and of cells, against the paper's equations token by token."""

import re

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

SENTENCES = [{"sentence": "who was it ?"}, {"sentence": "where"}, {"sentence": "when and how ?"}]


@pytest.fixture
def predictor(untrained_predictor):
    encoder = {"type": "cas_lstm", "input_size": 4, "hidden_size": 3, "num_layers": 3}
    encoder["bidirectional"] = True
    pooled = {"type": "pooled", "encoder": encoder, "pooling": "max"}
    predictor = untrained_predictor("sentence_classifier", encoder=pooled)
    for parameter in predictor._model.parameters():
        parameter.data.mul_(4)  # so that the gates differ
    return predictor


def gates_of(stack, embedded, suffix):
    """Output and vertical gates (eqs 3 and 9) and the cells (eq. 12) of each layer for one
    sentence's (T, D), by loops."""
    inputs = embedded
    lower_cells = None
    outputs = []
    verticals = []
    all_cells = []
    for layer in range(stack.num_layers):
        names = ("weight_ih", "weight_hh", "bias")
        W, U, b = (getattr(stack, f"{name}_l{layer}{suffix}") for name in names)
        h = c = torch.zeros(3)
        hidden = []
        cells = []
        o_steps = []
        v_steps = []
        for t, x in enumerate(inputs):
            blocks = (W @ x + U @ h + b).split(3)
            i, f, o = (torch.sigmoid(blocks[k]) for k in (0, 1, 3))
            if layer == 0:
                c = i * blocks[2].tanh() + f * c
            else:
                v_steps.append(torch.sigmoid(blocks[4]))
                c = i * blocks[2].tanh() + 0.5 * f * c + 0.5 * v_steps[-1] * lower_cells[t]
            h = o * c.tanh()
            for steps, value in ((hidden, h), (cells, c), (o_steps, o)):
                steps.append(value)
        inputs = hidden
        lower_cells = cells
        outputs.append(o_steps)
        verticals.append(v_steps)
        all_cells.append(cells)
    return outputs, verticals, all_cells


@torch.no_grad()
def test_the_histograms_are_those_of_the_equations(predictor):
    model = predictor._model
    (stack,) = (m for m in model.modules() if isinstance(m, CellAwareLSTM))
    values = {(1, "cell"): []}
    values |= {(n, name): [] for n in (2, 3) for name in ("gate", "range", "difference", "cell")}
    for sentence in SENTENCES:
        instance = predictor._json_to_instance(sentence)
        ids = [model.vocab.get_token_index(str(token)) for token in instance["tokens"]]
        (embedding,) = model._text_field_embedder._token_embedders.values()
        embedded = embedding.weight[ids]
        for suffix, x in (("", embedded), ("_reverse", embedded.flip(0))):
            outputs, verticals, cells = gates_of(stack, x, suffix)
            for layer in (1, 2, 3):
                values[layer, "cell"] += torch.stack(cells[layer - 1]).flatten().tolist()
            for layer in (2, 3):
                for v, o in zip(verticals[layer - 1], outputs[layer - 2]):
                    values[layer, "gate"] += v.tolist()
                    values[layer, "range"].append((v.max() - v.min()).item())
                    values[layer, "difference"] += (v - o).abs().tolist()
    histograms = collect_gates(predictor, SENTENCES, batch_size=2)
    assert [(h.layer, h.quantity) for h in histograms] == list(values)
    for histogram in histograms:
        expected = values[histogram.layer, histogram.quantity]
        limits = (-3, 3) if histogram.quantity == "cell" else (0, 1)
        counts = numpy.histogram(numpy.clip(expected, *limits), bins=50, range=limits)[0]
        # Rounding may move a value at the edge of two bins to either side.
        assert numpy.abs(counts - histogram.counts).sum() <= 2
        assert sum(histogram.counts) == len(expected)
        assert histogram.mean == pytest.approx(numpy.mean(expected), abs=1e-6)
        assert histogram.standard_deviation == pytest.approx(numpy.std(expected), abs=1e-6)
        extremes = min(expected), max(expected)
        assert (histogram.minimum, histogram.maximum) == pytest.approx(extremes, abs=1e-6)


def test_a_model_of_pairs_reads_sentences(untrained_predictor, tmp_path):
    encoder = {"type": "cas_lstm", "input_size": 4, "hidden_size": 3}
    pooled = {"type": "pooled", "encoder": encoder, "pooling": "max"}
    pairs = untrained_predictor("similarity_regressor", encoder=pooled)
    (histogram, *_) = collect_gates(pairs, SENTENCES)
    assert sum(histogram.counts) == 3 * sum(len(x["sentence"].split()) for x in SENTENCES)
    first = SENTENCES[0]["sentence"]
    second = SENTENCES[2]["sentence"]
    pair = {"premise": first, "hypothesis": second}
    expected = collect_gates(pairs, [pair])
    assert collect_gates(pairs, [SENTENCES[0], SENTENCES[2]])[0].counts == expected[0].counts
    mixed = collect_gates(pairs, [SENTENCES[0], pair, SENTENCES[2]])
    assert mixed[0].counts == [2 * count for count in expected[0].counts]
    assert [*draw_into_folder(tmp_path / "drawn", {"": pairs}, [SENTENCES[0], pair])] == []
    drawn = {file.name for file in (tmp_path / "drawn").glob("*.*l")}
    assert drawn == {"0002_saliency_simple_gradients.html"}


def test_what_has_no_gates_is_refused(untrained_predictor, predictor):
    other = untrained_predictor("sentence_classifier")
    assert not has_vertical_gates(other._model)
    with pytest.raises(ConfigurationError, match="no CAS-LSTM"):
        collect_gates(other, SENTENCES)
    with pytest.raises(ConfigurationError, match="no token"):
        collect_gates(predictor, [])


def test_the_picture_has_a_histogram_for_each(predictor):
    pytest.importorskip("seaborn")
    histograms = collect_gates(predictor, SENTENCES)
    cells = draw_gates("Memory cells", histograms, ["cell"]).content
    extremes = [(x.layer, x.minimum, x.maximum) for x in histograms if x.quantity == "cell"]
    for layer, minimum, maximum in extremes:
        assert f">layer {layer}: {minimum:.2f} to {maximum:.2f}<" in cells
    assert len(extremes) == 3
    svg = draw_gates("Gates", histograms).content
    found = re.findall(r'<text[^>]*x="([\d.]+)"[^>]*y="([\d.]+)"[^>]*>layer (\d): ', svg)
    assert [layer for *_, layer in found] == ["2", "3"] * 3
    lefts, heights = numpy.array([[float(x), float(y)] for x, y, _ in found]).T.reshape(2, 3, 2)
    assert numpy.ptp(heights, axis=1) == pytest.approx(0)  # the layers are side by side
    assert (numpy.diff(heights, axis=0) > 0).all()
    assert (numpy.diff(lefts) > 0).all()
    # One layer's histograms fit a page of 400 pixels.
    assert float(re.search(r'width="([\d.]+)pt"', svg)[1]) * 4 / 3 / 2 <= 400
