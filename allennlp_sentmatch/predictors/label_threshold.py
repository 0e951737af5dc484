"""The probability that a label needs to be predicted."""

from collections.abc import Collection, Mapping
from typing import Optional, Union

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.text import shorten

Threshold = Union[float, Mapping[str, float]]


class LabelThreshold:
    """Chooses a label, or none if no label is probable enough.

    # Parameters

    threshold : `Union[float, Mapping[str, float]]`
        The smallest probability with which a label is predicted: a number for every label, or one
        for each of some labels; others need none.
    labels : `Collection[str]`
        The model's labels.

    # Raises

    `ConfigurationError` for a number outside [0, 1] and for an unknown label.
    """

    def __init__(self, threshold: Threshold, labels: Collection[str]) -> None:
        by_label = threshold if isinstance(threshold, Mapping) else dict.fromkeys(labels, threshold)
        for label, number in by_label.items():
            if label not in labels:
                raise ConfigurationError(
                    f"threshold has the label {label!r}, but the model's labels are "
                    f"{sorted(labels)}"
                )
            is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
            if not is_number or not 0 <= number <= 1:
                raise ConfigurationError(
                    f"threshold must lie between 0 and 1, got {shorten(number)}"
                )
        self._by_label = dict(by_label)

    def choose(self, probs_by_label: Mapping[str, float]) -> Optional[str]:
        """The most probable one of the labels that reach their thresholds; `None` without any."""
        reached = [
            label
            for label, probability in probs_by_label.items()
            if probability >= self._by_label.get(label, 0.0)
        ]
        return max(reached, key=probs_by_label.__getitem__, default=None)
