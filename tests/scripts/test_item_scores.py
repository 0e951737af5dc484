import json
import re
from pathlib import Path

import pytest
from allennlp.commands.train import train_model_from_file
from scipy.stats import pearsonr

from scripts import item_scores
from scripts.experiments import REPOSITORY


@pytest.fixture(autouse=True)
def in_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def train(folder: Path, name: str, test_data: str, **settings: object) -> tuple[Path, dict]:
    """An archive of a configuration in fixtures/models, and its metrics on the test data."""
    overrides = {"test_data_path": test_data, "evaluate_on_test": True, **settings}
    path = f"fixtures/models/{name}.jsonnet"
    train_model_from_file(path, folder, overrides=json.dumps(overrides))
    return folder / "model.tar.gz", json.loads((folder / "metrics.json").read_text())


@pytest.mark.parametrize(("questions", "number"), [("all", 3), ("clean", 2)])
def test_of_a_ranker(tmp_path: Path, questions: str, number: int):
    """The second question has no right answer. All candidates are scored, as in evaluation."""
    archive, metrics = train(
        tmp_path / "out",
        "attentive_ranker",
        "fixtures/data/wikiqa.tsv",
        **{"model.questions": questions, "model.num_negatives": 1},
    )
    scores = item_scores.scores_of(archive)
    assert scores is not None
    assert len(scores) == number
    assert sum(scores) / len(scores) == pytest.approx(metrics["test_map"], abs=1e-4)


def test_of_a_model_of_scores(tmp_path: Path):
    archive, metrics = train(tmp_path / "out", "similarity_regressor", "fixtures/data/sts.csv")
    scores = item_scores.scores_of(archive)
    assert scores is not None
    predicted, true = zip(*json.loads(json.dumps(scores)))
    assert pearsonr(predicted, true)[0] == pytest.approx(metrics["test_pearson"], abs=1e-3)
    errors = [(first - second) ** 2 for first, second in scores]
    assert sum(errors) / len(errors) == pytest.approx(metrics["test_mean_squared_error"], rel=1e-3)


def test_of_answers(tmp_path: Path):
    """Passages are words only, and also answers, so that any span overlaps with an answer."""
    questions = [
        json.loads(line)
        for line in Path("fixtures/data/fairytaleqa.jsonl").read_text().splitlines()
    ]
    for question in questions:
        question["context"] = re.sub(r"[^\w\s]", "", question["context"])
        question["answers"].append(question["context"])
    test_data = tmp_path / "test.jsonl"
    test_data.write_text("".join(json.dumps(question) + "\n" for question in questions))
    archive, metrics = train(tmp_path / "out", "rnet", str(test_data))
    scores = item_scores.scores_of(archive)
    assert set(scores) == {"f1", "rouge_l"}
    for name, values in scores.items():
        assert len(values) == len(questions)
        assert sum(values) / len(values) == pytest.approx(metrics[f"test_{name}"], abs=0.01)
    assert min(scores["rouge_l"]) > 0
    assert scores["f1"] != scores["rouge_l"]


def test_of_a_classifier_on_its_validation_and_test_data(tmp_path: Path, monkeypatch, capsys):
    lines = Path("fixtures/data/snli.jsonl").read_text().splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[:5]))
    archive, metrics = train(
        tmp_path / "out",
        "esim",
        "fixtures/data/snli.jsonl",
        validation_data_path=str(part),
    )
    arguments = ["item_scores.py", str(archive), "--data", "validation"]
    monkeypatch.setattr("sys.argv", arguments)
    item_scores.main()
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 0 < len(scores) <= 5
    assert sum(scores) / len(scores) == pytest.approx(metrics["best_validation_accuracy"])
    of_test_data = item_scores.scores_of(archive)
    assert len(of_test_data) > len(scores)
    assert set(of_test_data) <= {0.0, 1.0}
    assert sum(of_test_data) / len(of_test_data) == pytest.approx(metrics["test_accuracy"])


def test_a_model_of_vectors_has_none(tmp_path: Path):
    archive, _ = train(tmp_path / "out", "distilled_encoder", "fixtures/data/sentences.txt")
    assert item_scores.scores_of(archive) is None
