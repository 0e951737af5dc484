"""Weights of the labels in the loss of a classifier."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from torch import Tensor

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.messages import did_you_mean, shorten
from allennlp_sentmatch.nn.checks import number
from allennlp_sentmatch.training.workers import gather

BALANCED = "balanced"
"""The name of the weights that make all labels count equally, regardless of frequency."""

WEIGHT = number(least=1e-9, most=1e9)


def weights_by_label(given: Any, labels: Sequence[str]) -> Tensor:
    """Return the weights (num_labels,) of `labels`, 1 for labels that are not in `given`.

    Raise `ConfigurationError`, which names `class_weights`, if `given` is not a dictionary of some
    of the labels and of numbers from 1e-9 to 1e9.
    """
    expected = f'class_weights must be "{BALANCED}", or the weights of labels, {{"yes": 3}}'
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"{expected}; got {shorten(given)}")
    for label, weight in given.items():
        if label not in labels:
            hint = did_you_mean(str(label), labels)
            raise ConfigurationError(
                f"class_weights: {shorten(label)} is not among the labels {sorted(labels)}{hint}"
            )
        with configuration_errors():
            WEIGHT.check(f"class_weights: the weight of {label!r}", weight)
    return torch.tensor([float(given.get(label, 1.0)) for label in labels])


def balanced_weights(counts: Mapping[str, int], labels: Sequence[str]) -> Tensor:
    """Return the weights (num_labels,) N / (K * N_k), by which each of K labels has the same sum.

    N_k is the label's count and N the sum of all counts; a label without examples is not counted in
    K, and has the weight 1. These are scikit-learn's "balanced" weights.
    """
    total = sum(counts[label] for label in labels)
    num_labels = sum(counts[label] > 0 for label in labels)
    weights = torch.ones(len(labels))
    for position, label in enumerate(labels):
        if counts[label]:
            weights[position] = total / (num_labels * counts[label])
    return weights


def count_labels(instances: Iterable[Instance], field: str) -> Counter[str]:
    """Count the labels of instances; unlabeled instances are ignored.

    In distributed training, where each process reads a share of the data, the counts are summed.
    """
    counts: Counter[str] = Counter()
    for instance in instances:
        if field in instance.fields:
            label_field: Any = instance.fields[field]
            counts[label_field.label] += 1
    return sum(gather(counts), Counter())
