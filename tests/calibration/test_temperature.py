"""Logits of examples, and temperatures against their closed form and another optimizer."""

import math

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.calibration.temperature import fit_temperature, predict_logits
from allennlp_sentmatch.models.archival import load_archive


def overconfident(seed, num_examples=400, num_labels=4):
    """Logits, and labels drawn from the probabilities with a temperature of 2.5."""
    generator = numpy.random.default_rng(seed)
    logits = generator.normal(scale=4, size=(num_examples, num_labels))
    noise = generator.gumbel(size=logits.shape)
    return logits, (logits / 2.5 + noise).argmax(-1)


@pytest.mark.parametrize(("margin", "num_right"), [(4.0, 7), (0.5, 9), (3.0, 6)])
def test_one_margin_has_a_closed_form(margin, num_right):
    """If all 10 examples have the logits (m, 0), softmax(m / T) is the accuracy."""
    logits = numpy.tile([margin, 0.0], (10, 1))
    labels = numpy.array([0] * num_right + [1] * (10 - num_right))
    expected = margin / math.log(num_right / (10 - num_right))
    assert fit_temperature(logits, labels) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_it_minimizes_the_cross_entropy(seed):
    logits, labels = overconfident(seed)
    log_temperature = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([log_temperature], max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        scaled = torch.tensor(logits) / log_temperature.exp()
        value = torch.nn.functional.cross_entropy(scaled, torch.tensor(labels))
        value.backward()
        return value

    optimizer.step(loss)
    expected = log_temperature.exp().item()
    assert fit_temperature(logits, labels) == pytest.approx(expected, rel=1e-5)
    assert expected == pytest.approx(2.5, rel=0.15)


def test_it_is_proportional_to_the_logits():
    logits, labels = overconfident(0)
    temperature = fit_temperature(logits, labels)
    for factor in (1e-30, 1e-3, 30.0, 1e20):
        assert fit_temperature(factor * logits, labels) == pytest.approx(
            factor * temperature, rel=1e-9, abs=0
        )


@pytest.mark.parametrize(
    "logits",
    [
        (0.5, 0.2, 0.1),
        (0.0, 0.0, 0.0),
        (1e20, 1.0, -1e20),
    ],
)
def test_one_pair_with_each_label_is_refused(logits):
    """Only at infinite temperature are its probabilities the labels' frequencies."""
    for repeats in (1, 3):
        labels = numpy.array([0, 1, 2] * repeats)
        with pytest.raises(ConfigurationError, match="no larger probabilities than the wrong"):
            fit_temperature(numpy.tile(logits, (len(labels), 1)), labels)


def test_faultless_and_clueless_models_are_refused():
    logits, _ = overconfident(0)
    with pytest.raises(ConfigurationError, match="all 400 examples correctly"):
        fit_temperature(logits, logits.argmax(-1))
    share = numpy.bincount(logits.argmin(-1)).max()
    message = rf"accuracy 0\.00; the most frequent label has {share} of"
    with pytest.raises(ConfigurationError, match=message):
        fit_temperature(logits, logits.argmin(-1))


@pytest.fixture
def archive(small_archive):
    archive = load_archive(small_archive)
    archive.model.eval()
    return archive


def test_a_label_of_another_reader(archive):
    from allennlp.data import DatasetReader, Instance
    from allennlp.data.fields import LabelField

    class Reader(DatasetReader):
        def _read(self, path):
            yield Instance({"label": LabelField("unknown")})

    with pytest.raises(ConfigurationError, match=r"file: 'unknown' not found.*; the model's"):
        predict_logits(archive.model, Reader(), "file")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("bcn", "trec.label"),
        ("cs_lvm", "snli.jsonl"),
        ("esim", "snli.jsonl"),
        ("lstmn_classifier", "snli.jsonl"),
        ("rcrn_entailment", "snli.jsonl"),
        ("sentence_classifier", "trec.label"),
        ("vae_siamese", "snli.jsonl"),
    ],
)
def test_every_classifier_has_logits(untrained_predictor, fixtures, name, file):
    """The logits are the predictor's, which has no labels, without a temperature."""
    predictor = untrained_predictor(name)
    data = str(fixtures / "data" / file)
    instances = list(predictor._dataset_reader.read(data))
    outputs = predictor._model.forward_on_instances(instances)
    predictor._model.get_metrics(reset=True)
    predictor._model.temperature.fill_(4.0)
    logits, labels = predict_logits(
        predictor._model,
        predictor._dataset_reader,
        data,
        batch_size=3,
    )
    assert predictor._model._accuracy.total_count == 0
    expected = numpy.stack([output["label_logits"] for output in outputs])
    assert logits == pytest.approx(expected, abs=1e-5)
    names = [predictor._model.labels[label] for label in labels]
    assert names == [instance["label"].label for instance in instances]
