"""Print how a trained model does on each item of its test data, as a JSON list.

    python scripts/item_scores.py out/sick/cas_lstm/1/model.tar.gz

A classifier's items are sentences or pairs: 1 where its label is right, 0 where it is wrong. A
ranker's are the questions that its MAP counts: their average precision. Those of a model of scores
are pairs: their predicted and true scores. For other models, `null` is printed.
`scripts/run_seeds.py --record` stores these lists, and `scripts/check_claims.py` compares models
with them.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Optional

import torch
from allennlp.data import Instance
from allennlp.models import Model
from allennlp.training.metrics import Metric

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.models import AttentiveRanker, ClassificationModel, ScoreModel
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.training.metrics import MeanAveragePrecision

BATCH_SIZE = 32


def scores_of(archive_path: Path) -> Optional[list]:
    """The score of each item of an archive's test data, rounded; for a model of scores, the
    predicted and the true one; `None` for models that neither classify nor rank nor score.
    """
    archive = load_archive(archive_path)
    model = archive.model.eval()
    if not isinstance(model, (ClassificationModel, AttentiveRanker, ScoreModel)):
        return None
    instances = list(archive.validation_dataset_reader.read(archive.config["test_data_path"]))
    if isinstance(model, ClassificationModel):
        return [float(right) for right in correctness(model, instances)]
    if isinstance(model, ScoreModel):
        return [
            [round(float(output["score"]), 6), float(instance["score"].tensor)]
            for instance, output in zip(instances, outputs_of(model, instances))
        ]
    questions = archive.config["model"].get("questions", "all")
    return [round(score, 4) for score in average_precisions(model, instances, questions)]


def correctness(model: Model, instances: list[Instance]) -> Iterator[bool]:
    """Whether the label of each instance is right."""
    for instance, output in zip(instances, outputs_of(model, instances)):
        yield output["label"] == instance["label"].label


def average_precisions(model: Model, instances: list[Instance], questions: str) -> Iterator[float]:
    """The average precision of each question that counts."""
    for instance, output in zip(instances, outputs_of(model, instances)):
        metric: Metric = MeanAveragePrecision(questions)
        labels = instance["labels"].tensor
        relevant = int(labels.sum())
        counts = {"all": True, "answered": relevant > 0, "clean": 0 < relevant < len(labels)}
        if counts[questions]:
            metric(torch.tensor([output["scores"]]), labels.unsqueeze(0))
            yield metric.get_metric()


def outputs_of(model: Model, instances: list[Instance]) -> Iterable[dict]:
    """The model's readable output for each instance."""
    for start in range(0, len(instances), BATCH_SIZE):
        yield from model.forward_on_instances(instances[start : start + BATCH_SIZE])


def main() -> None:
    """Print the scores of the archive of the command line."""
    parser = argparse.ArgumentParser(description="Print a score for each test item.")
    parser.add_argument("archive", type=Path)
    print(json.dumps(scores_of(parser.parse_args().archive)))


if __name__ == "__main__":
    main()
