"""A trained model's score on each item of some data.

A classifier's items are sentences or pairs: 1 if its label is right, 0 if it is wrong. A ranker's
are the questions that its MAP counts: their average precision. For a model that predicts scores, an
item is a pair, with its predicted and its true score. R-NET's items are questions, with a list for
each of two metrics, `{"f1": [...], "rouge_l": [...]}`, in percent as the metrics are.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from allennlp.data import Instance
from allennlp.models import Archive, Model

from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.models import AttentiveRanker, ClassificationModel, RNet, ScoreModel
from allennlp_sentmatch.training.metrics import AnswerOverlap, MeanAveragePrecision

BATCH_SIZE = 32
FIELDS: dict[type[Model], str] = {
    ClassificationModel: "label",
    AttentiveRanker: "labels",
    ScoreModel: "score",
}
"""The field that an item needs to be scored."""


def item_scores(archive: Archive, data_path: Any) -> Any:
    """Return the rounded scores of the items of some data; `None` for other kinds of models.

    The archive's validation reader reads the data.

    # Raises

    `ConfigurationError` for items without a label or score.
    """
    model = archive.model.eval()
    if not isinstance(model, (*FIELDS, RNet)):
        return None
    instances = list(archive.validation_dataset_reader.read(data_path))
    for kind, field in FIELDS.items():
        if isinstance(model, kind) and any(field not in instance for instance in instances):
            raise ConfigurationError(
                f"{data_path}: items without the field {field!r}; scores need labeled data"
            )
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
