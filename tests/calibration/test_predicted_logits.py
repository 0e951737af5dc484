"""Logits of labeled examples."""

import math

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.calibration.predicted_logits import predict_logits
from allennlp_sentmatch.models.archival import load_archive

HEADER = "sentence1\tsentence2\tlabel\n"
PAIRS = ["A cat sits.\tA dog runs.\tneutral\n", "Nobody sits in the garden.\tHe is.\tentailment\n"]


@pytest.fixture
def archive(small_archive):
    archive = load_archive(small_archive)
    archive.model.eval()
    return archive


@pytest.fixture
def predict(archive, tmp_path):
    def predict(text, **options):
        file = tmp_path / "pairs.tsv"
        file.write_text(text)
        return predict_logits(
            archive.model, archive.validation_dataset_reader, str(file), **options
        )

    return predict


def test_the_model_s_logits_in_the_order_of_the_data(archive, predict):
    archive.model.temperature.fill_(4.0)
    logits, labels = predict(HEADER + "".join(PAIRS * 2), batch_size=3)
    assert [archive.model.labels[label] for label in labels] == ["neutral", "entailment"] * 2
    archive.model.temperature.fill_(1.0)
    reader = archive.validation_dataset_reader
    for pair, row in zip(PAIRS, logits[2:]):
        instance = reader.text_to_instance(*pair.split("\t")[:2])
        reader.apply_token_indexers(instance)
        expected = archive.model.forward_on_instance(instance)["label_logits"]
        assert row == pytest.approx(expected, abs=1e-5)


def test_the_metrics_are_untouched(archive, predict):
    predict(HEADER + PAIRS[0])
    assert archive.model._accuracy.total_count == 0


def test_an_example_without_a_label(predict):
    with pytest.raises(ConfigurationError, match=r"pairs\.tsv, example 1 has no label"):
        predict('{"sentence1": "A cat sits.", "sentence2": "A dog runs.", "label": null}\n')


def test_a_label_that_the_model_does_not_know(predict):
    with pytest.raises(ConfigurationError, match=r"pairs\.tsv, line 3: the label 'unknown'"):
        predict(HEADER + PAIRS[0] + "A cat.\tA dog.\tunknown\n")


def test_logits_that_are_not_finite(archive, predict):
    *_, bias = archive.model.parameters()
    with torch.no_grad():
        bias[0] = math.nan
    with pytest.raises(ConfigurationError, match=r"pairs\.tsv, example 1: .* not finite"):
        predict(HEADER + PAIRS[0])


def test_no_examples(archive, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text(HEADER + PAIRS[0])
    data = {"path": str(file), "folds": {"number": 10**30, "keep": [1]}}
    with pytest.raises(ConfigurationError, match="has no examples to calibrate with"):
        predict_logits(archive.model, archive.validation_dataset_reader, data)


def test_a_label_of_another_reader(archive):
    from allennlp.data import Instance
    from allennlp.data.fields import LabelField

    class Reader:
        def read(self, path):
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
    """As its predictor gives them, which knows no label."""
    predictor = untrained_predictor(name)
    data = str(fixtures / "data" / file)
    logits, labels = predict_logits(predictor._model, predictor._dataset_reader, data)
    instances = list(predictor._dataset_reader.read(data))
    outputs = predictor._model.forward_on_instances(instances)
    expected = numpy.stack([output["label_logits"] for output in outputs])
    assert logits == pytest.approx(expected, abs=1e-5)
    names = [predictor._model.labels[label] for label in labels]
    assert names == [instance["label"].label for instance in instances]
