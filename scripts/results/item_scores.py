"""Print a trained model's score on each item of its test data, as JSON.

    python -m scripts.results.item_scores out/sick/cas_lstm/1/model.tar.gz

A classifier's items are sentences or pairs: 1 where its label is right, 0 where it is wrong. A
ranker's are the questions that its MAP counts: their average precision. Those of a model of scores
are pairs: their predicted and true scores. Each is a list. R-NET's items are questions,
with a list for each of two metrics, `{"f1": [...], "rouge_l": [...]}`, in percent as the metrics
are. For other models, `null` is printed.

`--data validation` takes the validation data instead. `run_seeds.py --record` stores the
scores, and `check_claims.py` compares models with them.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from allennlp.data import Instance
from allennlp.models import Model

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.models import AttentiveRanker, ClassificationModel, RNet, ScoreModel
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.training.metrics import AnswerOverlap, MeanAveragePrecision

BATCH_SIZE = 32


def scores_of(archive_path: Path, data: str = "test") -> Any:
    """Return the rounded scores of an archive's test or validation items, or `None`."""
    archive = load_archive(archive_path)
    model = archive.model.eval()
    if not isinstance(model, (ClassificationModel, AttentiveRanker, ScoreModel, RNet)):
        return None
    instances = list(archive.validation_dataset_reader.read(archive.config[f"{data}_data_path"]))
    answered: list[Any] = list(zip(instances, outputs_of(model, instances)))
    if isinstance(model, RNet):
        return answer_scores([output for _, output in answered])
    if isinstance(model, ClassificationModel):
        return [float(output["label"] == instance["label"].label) for instance, output in answered]
    if isinstance(model, ScoreModel):
        return [
            [round(float(output["score"]), 6), float(instance["score"].tensor)]
            for instance, output in answered
        ]
    questions = archive.config["model"].get("questions", "all")
    return [round(score, 4) for score in average_precisions(answered, questions)]


def average_precisions(answered: list[tuple[Any, Any]], questions: str) -> Iterator[float]:
    """Yield the average precision of each question that counts."""
    for instance, output in answered:
        metric = MeanAveragePrecision(questions)
        labels = instance["labels"].tensor
        relevant = int(labels.sum())
        counts = {"all": True, "answered": relevant > 0, "clean": 0 < relevant < len(labels)}
        if counts[questions]:
            metric(torch.tensor([output["scores"]]), labels.unsqueeze(0))
            yield metric.get_metric()


def answer_scores(outputs: Iterable[dict[str, Any]]) -> dict[str, list[float]]:
    """F1 and ROUGE-L of the answer to each question."""
    metric = AnswerOverlap()
    scores: dict[str, list[float]] = {"f1": [], "rouge_l": []}
    for output in outputs:
        metric([output["answer"]], [output["metadata"]["answers"]])
        figures = metric.get_metric(reset=True)
        for name, values in scores.items():
            values.append(round(figures[name], 2))
    return scores


def outputs_of(model: Model, instances: list[Instance]) -> Iterable[dict[str, Any]]:
    """Yield the model's readable output for each instance."""
    for start in range(0, len(instances), BATCH_SIZE):
        yield from model.forward_on_instances(instances[start : start + BATCH_SIZE])


def main() -> None:
    """Print the scores of the archive of the command line."""
    parser = argparse.ArgumentParser(description="Print a score for each test item.")
    parser.add_argument("archive", type=Path)
    parser.add_argument("--data", choices=["test", "validation"], default="test")
    arguments = parser.parse_args()
    print(json.dumps(scores_of(arguments.archive, arguments.data)))


if __name__ == "__main__":
    main()
