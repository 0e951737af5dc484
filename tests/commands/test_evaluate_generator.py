"""The artificial data set of table 6.5."""

import json
import subprocess
import sys

import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.predictors import Predictor

from allennlp_sentmatch.commands.evaluate_generator import evaluate_generator
from allennlp_sentmatch.training.metrics import Distinct
from tests.conftest import REPOSITORY

PAIRS = str(REPOSITORY / "fixtures" / "data" / "snli.jsonl")


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    paths = {"train_data_path": PAIRS, "validation_data_path": PAIRS}
    for name in ("cs_lvm", "vae_siamese"):
        train_model_from_file(
            str(REPOSITORY / "fixtures" / "models" / f"{name}.jsonnet"),
            str(folder / name),
            overrides=json.dumps(paths),
        )
    return [str(folder / name / "model.tar.gz") for name in ("cs_lvm", "vae_siamese")]


def test_artificial_pairs_and_their_metrics(archives, tmp_path):
    pairs_file, metrics_file = tmp_path / "pairs.jsonl", tmp_path / "metrics.json"
    metrics = evaluate_generator(
        archives[0], PAIRS, archives[1], str(metrics_file), str(pairs_file), batch_size=3
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
    generator = Predictor.from_path(archives[0], "pair_generator")
    classifier = Predictor.from_path(archives[1], "sentence_pair")
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


def test_the_data_set_can_be_read(archives, tmp_path):
    pairs_file = tmp_path / "pairs.jsonl"
    evaluate_generator(archives[0], PAIRS, archives[1], None, str(pairs_file), sample_latent=True)
    instances = list(DatasetReader.by_name("sentence_pair")("snli").read(str(pairs_file)))
    assert len(instances) == 7
    assert {instance["label"].label for instance in instances} == {
        "entailment",
        "neutral",
        "contradiction",
    }


def test_pairs_without_labels(archives, tmp_path):
    path = tmp_path / "unlabeled.jsonl"
    path.write_text('{"premise": "A man sleeps .", "hypothesis": "He is awake ."}\n')
    with pytest.raises(ConfigurationError, match=r"unlabeled\.jsonl: this pair has no label"):
        evaluate_generator(archives[0], str(path), archives[1])


def test_command_line(archives, tmp_path):
    metrics_file = tmp_path / "metrics.json"
    command = ["evaluate-generator", archives[0], PAIRS, "--classifier", archives[1]]
    command += ["--output-file", str(metrics_file), "--file-friendly-logging"]
    result = subprocess.run(
        [sys.executable, "-m", "allennlp", *command],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(metrics_file.read_text()).keys() == {"accuracy", "distinct-1", "distinct-2"}
    assert "distinct-2: " in result.stderr + result.stdout
