"""A trained model's score on each item of some data.

A classifier's items are sentences or pairs: 1 if its label is right, 0 if it is wrong. A ranker's
are the questions that its MAP counts: their average precision. For a model that predicts scores, an
item is a pair, with its predicted and its true score. R-NET's items are questions, with a list for
each of two metrics, `{"f1": [...], "rouge_l": [...]}`, in percent as the metrics are.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from allennlp.data import Instance
from allennlp.models import Archive, Model

from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.models import AttentiveRanker, ClassificationModel, RNet, ScoreModel
from allennlp_sentmatch.training.metrics import AnswerOverlap, MeanAveragePrecision

BATCH_SIZE = 32

Output = dict[str, Any]
"""A model's readable output for an item."""

METRICS: dict[type[Model], tuple[str, ...]] = {
    ClassificationModel: ("accuracy",),
    AttentiveRanker: ("map",),
    ScoreModel: ("pearson",),
    RNet: ("f1", "rouge_l"),
}


def metrics_of(model: Model) -> tuple[str, ...]:
    """Return the names of a model's metrics that are means or correlations over items.

    There are none for other kinds of models.
    """
    for kind, names in METRICS.items():
        if isinstance(model, kind):
            return names
    return ()


def item_scores(archive: Archive, data_path: Any) -> Any:
    """Return the rounded scores of the items of some data; `None` for other kinds of models.

    The archive's validation reader reads the data. The scores are a list, or for R-NET a dictionary
    of lists, as described above. Raise `ConfigurationError` for items without a label or score.
    """
    model = archive.model.eval()
    if not metrics_of(model):
        return None
    instances = list(archive.validation_dataset_reader.read(data_path))
    if isinstance(model, RNet):
        return answer_scores(outputs_of(model, instances))
    field = model.gold_field
    if not all(field in instance for instance in instances):
        raise ConfigurationError(
            f"{data_path}: items without the field {field!r}; scores need labeled data"
        )
    outputs = outputs_of(model, instances)
    if isinstance(model, AttentiveRanker):
        questions = archive.config["model"].get("questions", "all")
        precisions = average_precisions(instances, outputs, questions)
        return [round(precision, 4) for precision in precisions]
    score_of = scores_of_pair if isinstance(model, ScoreModel) else is_right
    return list(map(score_of, instances, outputs))


def gold_of(archive: Archive, data_path: Any) -> list[Any]:
    """Return what is right for each example of some data: its label, its score, the marks of its
    candidates or its answers.
    """
    model: Any = archive.model
    instances: list[Any] = list(archive.validation_dataset_reader.read(data_path))
    if isinstance(model, RNet):
        return [instance["metadata"].metadata["answers"] for instance in instances]
    fields = [instance[model.gold_field] for instance in instances]
    if isinstance(model, ClassificationModel):
        return [str(field.label) for field in fields]
    return [field.tensor.tolist() for field in fields]


def is_right(instance: Any, output: Output) -> float:
    """Return 1.0 if the predicted label is the instance's, otherwise 0.0."""
    return float(output["label"] == instance["label"].label)


def scores_of_pair(instance: Any, output: Output) -> list[float]:
    """Return the predicted and the true score of a pair."""
    predicted = round(float(output["score"]), 6)
    true = float(instance["score"].tensor)
    return [predicted, true]


def average_precisions(
    instances: Sequence[Any], outputs: Sequence[Output], questions: str
) -> Iterator[float]:
    """Yield the average precision of each question that counts.

    `questions` is "all", "answered" (those with a right candidate) or "clean" (those that also have
    a wrong one), as for `MeanAveragePrecision`.
    """
    for instance, output in zip(instances, outputs):
        labels = instance["labels"].tensor
        relevant = int(labels.sum())
        counted = {
            "all": True,
            "answered": relevant > 0,
            "clean": 0 < relevant < len(labels),
        }
        if counted[questions]:
            metric = MeanAveragePrecision(questions)
            metric(torch.tensor([output["scores"]]), labels.unsqueeze(0))
            yield metric.get_metric()


def answer_scores(outputs: Sequence[Output]) -> dict[str, list[float]]:
    """Return F1 and ROUGE-L of the answer to each question, in percent, by the metric's name."""
    metric = AnswerOverlap()
    scores: dict[str, list[float]] = {name: [] for name in METRICS[RNet]}
    for output in outputs:
        metric([output["answer"]], [output["metadata"]["answers"]])
        figures = metric.get_metric(reset=True)
        for name, of_answers in scores.items():
            of_answers.append(round(figures[name], 2))
    return scores


def outputs_of(model: Model, instances: list[Instance]) -> list[Output]:
    """Return the model's readable output for each instance, without the loss of a batch."""
    outputs: list[Output] = []
    model._warn_for_unseparable_batches.add("loss")
    for start in range(0, len(instances), BATCH_SIZE):
        batch = instances[start : start + BATCH_SIZE]
        outputs += model.forward_on_instances(batch)
    return outputs
