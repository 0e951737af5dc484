"""The artificial data set of table 6.5."""

import json

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors.pair_generator import evaluate_generator
from allennlp_sentmatch.training.metrics import Distinct
from tests.conftest import REPOSITORY

PAIRS = str(REPOSITORY / "fixtures" / "data" / "snli.jsonl")


def test_artificial_pairs_and_their_metrics(generator_archives, tmp_path):
    pairs_file, metrics_file = tmp_path / "pairs.jsonl", tmp_path / "metrics.json"
    metrics = evaluate_generator(
        generator_archives[0],
        PAIRS,
        generator_archives[1],
        str(metrics_file),
        str(pairs_file),
        batch_size=3,
    )
    assert json.loads(metrics_file.read_text()) == metrics
    pairs = [json.loads(line) for line in pairs_file.read_text().splitlines()]

    # The premises and labels of the data set, and what the generator says to them.
    reader = DatasetReader.by_name("sentence_pair")("snli")
    true_pairs = [
        (instance["metadata"].metadata["premise"], instance["label"].label)
        for instance in reader.read(PAIRS)
    ]
    assert [(pair["premise"], pair["label"]) for pair in pairs] == true_pairs
    generator = Predictor.from_path(generator_archives[0], "pair_generator")
    classifier = Predictor.from_path(generator_archives[1], "sentence_pair")
    for pair in pairs:
        output = generator.generate(pair["premise"], pair["label"])
        assert pair["hypothesis"] == output["sentences"][pair["label"]][0]["sentence"]
        judged = classifier.predict(pair["premise"], pair["hypothesis"])
        assert pair["predicted_label"] == judged["label"]

    right = sum(pair["label"] == pair["predicted_label"] for pair in pairs)
    assert metrics["accuracy"] == pytest.approx(right / len(pairs))
    for n in (1, 2):
        metric = Distinct(n)
        metric(pair["hypothesis"].split() for pair in pairs)
        assert metrics[f"distinct-{n}"] == pytest.approx(metric.get_metric())


def test_the_data_set_can_be_read(generator_archives, tmp_path):
    pairs_file = tmp_path / "pairs.jsonl"
    evaluate_generator(
        generator_archives[0],
        PAIRS,
        generator_archives[1],
        None,
        str(pairs_file),
        sample_latent=True,
    )
    instances = list(DatasetReader.by_name("sentence_pair")("snli").read(str(pairs_file)))
    assert len(instances) == 7
    assert {instance["label"].label for instance in instances} == {
        "entailment",
        "neutral",
        "contradiction",
    }


def test_pairs_without_labels(generator_archives, tmp_path):
    path = tmp_path / "unlabeled.jsonl"
    path.write_text('{"premise": "A man sleeps .", "hypothesis": "He is awake ."}\n')
    with pytest.raises(ConfigurationError, match=r"unlabeled\.jsonl: this pair has no label"):
        evaluate_generator(generator_archives[0], str(path), generator_archives[1])
