import json
import re
from pathlib import Path

import pytest
from allennlp.commands.train import train_model_from_file
from scipy.stats import pearsonr

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


def test_of_a_model_of_scores(train):
    archive, metrics = train("similarity_regressor", "fixtures/data/sts.csv")
    scores = item_scores.scores_of(archive)
    predicted, true = zip(*json.loads(json.dumps(scores)))
    assert pearsonr(predicted, true)[0] == pytest.approx(metrics["test_pearson"], abs=1e-3)
    errors = [(first - second) ** 2 for first, second in scores]
    assert sum(errors) / len(errors) == pytest.approx(metrics["test_mean_squared_error"], rel=1e-3)


def test_of_answers(train, tmp_path):
    """Passages are words only, and also answers, so that any span overlaps with an answer."""
    lines = Path("fixtures/data/fairytaleqa.jsonl").read_text().splitlines()
    questions = list(map(json.loads, lines))
    for question in questions:
        question["context"] = re.sub(r"[^\w\s]", "", question["context"])
        question["answers"].append(question["context"])
    test_data = tmp_path / "test.jsonl"
    test_data.write_text("".join(json.dumps(question) + "\n" for question in questions))
    archive, metrics = train("rnet", test_data)
    scores = item_scores.scores_of(archive)
    assert set(scores) == {"f1", "rouge_l"}
    for name, values in scores.items():
        assert len(values) == len(questions)
        assert sum(values) / len(values) == pytest.approx(metrics[f"test_{name}"], abs=0.01)
    assert min(scores["rouge_l"]) > 0
    assert scores["f1"] != scores["rouge_l"]


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


def test_a_model_of_vectors_has_none(train):
    archive, _ = train("distilled_encoder", "fixtures/data/sentences.txt")
    assert item_scores.scores_of(archive) is None
