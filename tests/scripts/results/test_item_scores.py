import json
from pathlib import Path

import pytest
from allennlp.commands.train import train_model_from_file

from scripts.experiments import REPOSITORY
from scripts.results import item_scores


@pytest.fixture(autouse=True)
def in_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture
def train(tmp_path):
    """Trains a configuration in fixtures/models, and gives its archive and its metrics on the test
    data.
    """

    def run(name: str, test_data: object, **settings: object) -> tuple[Path, dict]:
        overrides = {"test_data_path": str(test_data), "evaluate_on_test": True, **settings}
        path, folder = f"fixtures/models/{name}.jsonnet", tmp_path / "out"
        train_model_from_file(path, folder, overrides=json.dumps(overrides))
        return folder / "model.tar.gz", json.loads((folder / "metrics.json").read_text())

    return run


@pytest.mark.parametrize(("questions", "number"), [("all", 3), ("clean", 2)])
def test_of_a_ranker(train, questions: str, number: int):
    """The second question has no right answer. All candidates are scored, as in evaluation."""
    settings = {"model.questions": questions, "model.num_negatives": 1}
    archive, metrics = train("attentive_ranker", "fixtures/data/wikiqa.tsv", **settings)
    scores = item_scores.scores_of(archive)
    assert len(scores) == number
    assert sum(scores) / len(scores) == pytest.approx(metrics["test_map"], abs=1e-4)


def test_of_a_classifier_on_its_validation_and_test_data(train, tmp_path, monkeypatch, capsys):
    part, whole = tmp_path / "part.jsonl", Path("fixtures/data/snli.jsonl")
    part.write_text("".join(whole.read_text().splitlines(keepends=True)[:5]))
    archive, metrics = train("esim", whole, validation_data_path=str(part))
    monkeypatch.setattr("sys.argv", ["item_scores.py", str(archive), "--data", "validation"])
    item_scores.main()
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 0 < len(scores) <= 5
    assert sum(scores) / len(scores) == pytest.approx(metrics["best_validation_accuracy"])
    of_test_data = item_scores.scores_of(archive)
    assert len(of_test_data) > len(scores)
    assert set(of_test_data) <= {0.0, 1.0}
    assert sum(of_test_data) / len(of_test_data) == pytest.approx(metrics["test_accuracy"])
