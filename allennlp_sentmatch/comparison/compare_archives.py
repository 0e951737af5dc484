"""Compare sets of archives on labeled data."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy
from allennlp.models import Archive

from allennlp_sentmatch.comparison.item_scores import item_scores
from allennlp_sentmatch.comparison.statistics import compare, holm
from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.models import AttentiveRanker, RNet, ScoreModel
from allennlp_sentmatch.models.archival import load_archive

AnyPath = Union[str, "os.PathLike[str]"]


def compare_archives(
    higher: Sequence[AnyPath],
    others: Sequence[Sequence[AnyPath]],
    data_path: Any,
    metric: Optional[str] = None,
    cuda_device: int = -1,
    trust: bool = False,
) -> list[dict[str, Any]]:
    """Compare a set of archives, usually the seeds of a configuration, with other sets.

    Returns a dictionary for each of the other sets: the archives `higher` (X) and `lower` (Y), the
    `metric`, the number of `items`, the attributes of `Comparison`, and `p_holm`, the p-value
    corrected for the number of comparisons. Figures are fractions, not percentages.

    # Parameters

    higher, others, cuda_device, trust
        Archives as for `load_archive`, one for each seed.
    data_path : `Any`
        Labeled data, which each archive's validation reader reads.
    metric : `str`, optional (default = `None`)
        For models of reading comprehension, "f1" (the default) or "rouge_l"; other models have only
        one metric: accuracy, MAP or Pearson's correlation.

    # Raises

    `ConfigurationError` if a model has no scores of items, or the archives do not have the same
    items or metric.
    """
    scored = [
        [_Scored(path, data_path, metric, cuda_device, trust) for path in paths]
        for paths in (higher, *others)
    ]
    first = scored[0][0]
    for one in (one for group in scored for one in group):
        first.check_comparable(one)
    arrays = [numpy.stack([one.scores for one in group]) for group in scored]
    compared = [compare(arrays[0], other) for other in arrays[1:]]
    corrected = holm([one.p for one in compared])
    return [
        {
            "higher": [str(path) for path in higher],
            "lower": [str(path) for path in paths],
            "metric": first.metric,
            "items": len(first.scores),
            **one._asdict(),
            "p_holm": p,
        }
        for paths, one, p in zip(others, compared, corrected)
    ]


class _Scored:
    """Scores of an archive's items, (items, 1) or (items, 2)."""

    def __init__(
        self, path: AnyPath, data_path: Any, metric: Optional[str], cuda_device: int, trust: bool
    ) -> None:
        archive = load_archive(path, cuda_device, trust)
        self.path = Path(path)
        self.metric = _metric_of(archive, metric, path)
        scores = item_scores(archive, data_path)
        if scores is None:
            raise ConfigurationError(
                f"{path}: a {type(archive.model).__name__} has no scores of items; compare "
                "classifiers, rankers, models of scores or of reading comprehension"
            )
        if not scores:
            raise ConfigurationError(f"{path}: there are no items to compare in {data_path}")
        if isinstance(scores, dict):
            scores = [score / 100 for score in scores[self.metric]]
        self.scores = numpy.array(scores, dtype=float).reshape(len(scores), -1)

    def check_comparable(self, other: "_Scored") -> None:
        """Raise `ConfigurationError` unless the other archive has this one's items and metric."""
        if other.metric != self.metric:
            raise ConfigurationError(
                f"{self.path} has {self.metric} and {other.path} {other.metric}: compare models of "
                "one kind"
            )
        are_others = other.scores.shape != self.scores.shape
        if are_others or (self.metric == "pearson" and (other.scores != self.scores)[:, 1].any()):
            raise ConfigurationError(
                f"{self.path} reads {len(self.scores)} items, and {other.path} "
                f"{len(other.scores)} that are not the same; both validation readers must read "
                "the same ones"
            )


def _metric_of(archive: Archive, metric: Optional[str], path: AnyPath) -> str:
    """Return the name of a model's metric; raise `ConfigurationError` if it is not `metric`."""
    model = archive.model
    choices = ["accuracy"]
    if isinstance(model, RNet):
        choices = ["f1", "rouge_l"]
    elif isinstance(model, AttentiveRanker):
        choices = ["map"]
    elif isinstance(model, ScoreModel):
        choices = ["pearson"]
    if metric is not None and metric not in choices:
        raise ConfigurationError(f"{path}: its metric is {' or '.join(choices)}, not {metric}")
    return metric or choices[0]
