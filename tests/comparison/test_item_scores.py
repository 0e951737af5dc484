"""The score of each item is that of the model's evaluation."""

import json
from pathlib import Path

import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.comparison.item_scores import gold_of, item_scores
from allennlp_sentmatch.models.archival import load_archive
from tests.conftest import REPOSITORY


@pytest.fixture(autouse=True)
def in_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def train(name: str, folder: Path, test_data: object, **settings: object) -> tuple[Path, dict]:
    """A trained archive of a configuration in fixtures/models, and its metrics on test data."""
    overrides = {
        "test_data_path": str(test_data),
        "evaluate_on_test": True,
        **settings,
    }
    path = f"fixtures/models/{name}.jsonnet"
    train_model_from_file(path, folder / "out", overrides=json.dumps(overrides))
    return folder / "out/model.tar.gz", json.loads((folder / "out/metrics.json").read_text())


@pytest.mark.parametrize(("questions", "number"), [("all", 3), ("clean", 2)])
def test_of_a_ranker(tmp_path, questions: str, number: int):
    """The second question has no right answer. All candidates are scored, as in evaluation."""
    settings = {"model.questions": questions, "model.num_negatives": 1}
    data = "fixtures/data/wikiqa.tsv"
    archive, metrics = train("attentive_ranker", tmp_path, data, **settings)
    scores = item_scores(load_archive(archive), data)
    assert len(scores) == number
    assert sum(scores) / len(scores) == pytest.approx(metrics["test_map"], abs=1e-4)
    gold = gold_of(load_archive(archive), data)
    assert [sum(marks) > 0 for marks in gold] == [True, False, True]


def test_of_a_classifier_on_its_validation_and_test_data(tmp_path):
    part = tmp_path / "part.jsonl"
    whole = Path("fixtures/data/snli.jsonl")
    part.write_text("".join(whole.read_text().splitlines(keepends=True)[:5]))
    archive, metrics = train("esim", tmp_path, whole, validation_data_path=str(part))
    loaded = load_archive(archive)
    scores = item_scores(loaded, str(part))
    assert 0 < len(scores) <= 5
    assert sum(scores) / len(scores) == pytest.approx(metrics["best_validation_accuracy"])
    of_test_data = item_scores(loaded, str(whole))
    assert len(of_test_data) > len(scores)
    assert set(of_test_data) <= {0.0, 1.0}
    labels = [json.loads(line)["gold_label"] for line in whole.read_text().splitlines()]
    assert gold_of(loaded, str(whole)) == [label for label in labels if label != "-"]
    assert sum(of_test_data) / len(of_test_data) == pytest.approx(metrics["test_accuracy"])


def test_data_without_labels(small_archive, tmp_path):
    lines = Path("fixtures/data/snli.jsonl").read_text().splitlines()
    pairs = [json.loads(line) for line in lines[:3]]
    texts = [f"{pair['sentence1']}\t{pair['sentence2']}\n" for pair in pairs]
    (tmp_path / "pairs.tsv").write_text("".join(texts))
    with pytest.raises(ConfigurationError, match=r"pairs\.tsv"):
        item_scores(load_archive(small_archive), str(tmp_path / "pairs.tsv"))


def test_items_without_a_label(small_archive, monkeypatch):
    archive = load_archive(small_archive)
    reader = archive.validation_dataset_reader
    pair = reader.text_to_instance("A dog runs.", "A cat sleeps.")
    monkeypatch.setattr(reader, "read", lambda path: [pair])
    with pytest.raises(ConfigurationError, match="x: items without the field 'label'; scores need"):
        item_scores(archive, "x")


def test_of_a_reader_of_answers(tmp_path):
    data = "fixtures/data/fairytaleqa.jsonl"
    archive, metrics = train("rnet", tmp_path, data)
    scores = item_scores(load_archive(archive), data)
    assert list(scores) == ["f1", "rouge_l"]
    for name, figures in scores.items():
        assert len(figures) > 1
        assert sum(figures) / len(figures) == pytest.approx(metrics[f"test_{name}"], abs=0.01)
