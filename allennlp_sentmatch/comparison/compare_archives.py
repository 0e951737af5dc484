"""Compare sets of archives on labeled data."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy
from allennlp.models import Model

from allennlp_sentmatch.comparison.item_scores import gold_of, item_scores, metrics_of
from allennlp_sentmatch.comparison.statistics import compare, holm
from allennlp_sentmatch.errors import ConfigurationError, configuration_errors
from allennlp_sentmatch.files.folders import AnyPath, errors_name
from allennlp_sentmatch.models.archival import check_different, load_archive, weights_digest


def compare_archives(
    higher: Sequence[AnyPath],
    others: Sequence[Sequence[AnyPath]],
    data_path: Any,
    metric: Optional[str] = None,
    cuda_device: int = -1,
    trust: bool = False,
) -> list[dict[str, Any]]:
    """Compare a set of archives, usually the seeds of a configuration, with other sets.

    Return a dictionary for each of the other sets: the archives `higher` (X) and `lower` (Y), the
    `metric`, the number of `items`, what `Comparison` has, and `p_holm`, which is corrected for the
    number of comparisons. Figures are not in percent.

    # Parameters

    higher, others, cuda_device, trust
        Archives as for `load_archive`, one for each seed.
    data_path : `Any`
        Labeled data, which each archive's validation reader reads.
    metric : `str`, optional (default = `None`)
        For models of reading comprehension, "f1" (the default) or "rouge_l"; other models have one:
        accuracy, MAP, or Pearson's correlation.

    # Raises

    `ConfigurationError` if a model has no scores of items, if the archives do not have the same
    items, labels or metric, if there are fewer than six items, or if a set has a model twice, under
    whatever names: it would count as two seeds, whose spread would seem smaller than it is.
    """
    sets: list[list[Scored]] = []
    for paths in (higher, *others):
        archives: list[Scored] = []
        for path in paths:
            archives.append(scored(path, data_path, metric, cuda_device, trust))
            check_different(paths, [one.weights for one in archives])
        sets.append(archives)
    first = sets[0][0]
    arrays = []
    for archives in sets:
        for one in archives:
            check_comparable(first, one)
        arrays.append(numpy.stack([one.scores for one in archives]))
    with configuration_errors(), errors_name(str(data_path)):
        compared = [compare(arrays[0], array) for array in arrays[1:]]
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


class Scored(NamedTuple):
    """The scores of an archive's items, (items, 1) or (items, 2), and what is right for each.

    `weights` is the digest of the model's weights.
    """

    path: AnyPath
    weights: str
    metric: str
    scores: numpy.ndarray
    gold: list[Any]


def scored(
    path: AnyPath,
    data_path: Any,
    metric: Optional[str],
    cuda_device: int,
    trust: bool,
) -> Scored:
    """Return the scores of an archive, or raise the errors of `compare_archives` about one."""
    archive = load_archive(path, cuda_device, trust)
    name = chosen_metric(path, archive.model, metric)
    scores = item_scores(archive, data_path)
    if not scores:
        raise ConfigurationError(f"{path}: there are no items to compare in {data_path}")
    if isinstance(scores, dict):
        scores = [score / 100 for score in scores[name]]
    array = numpy.array(scores, dtype=float)
    return Scored(
        path=path,
        weights=weights_digest(archive.model),
        metric=name,
        scores=array.reshape(len(array), -1),
        gold=gold_of(archive, data_path),
    )


def chosen_metric(path: AnyPath, model: Model, metric: Optional[str]) -> str:
    """Return the name of a model's metric, `metric` if it is not `None`."""
    choices = metrics_of(model)
    if not choices:
        raise ConfigurationError(
            f"{path}: a {type(model).__name__} has no scores of items; compare classifiers, "
            "rankers, models of scores or of reading comprehension"
        )
    if metric is None:
        return choices[0]
    if metric not in choices:
        raise ConfigurationError(f"{path}: its metric is {' or '.join(choices)}, not {metric}")
    return metric


def check_comparable(first: Scored, other: Scored) -> None:
    """Raise `ConfigurationError` unless two archives have the same items and metric."""
    if other.metric != first.metric:
        raise ConfigurationError(
            f"{first.path} has {first.metric} and {other.path} {other.metric}: compare models of "
            "one kind"
        )
    if other.scores.shape != first.scores.shape or other.gold != first.gold:
        raise ConfigurationError(
            f"{first.path} reads {len(first.scores)} items, and {other.path} "
            f"{len(other.scores)} that are not the same, or have other labels; both validation "
            "readers must read the same ones"
        )
