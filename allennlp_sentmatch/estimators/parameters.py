"""The parameters of the estimators, which `fit` checks when it begins."""

from typing import Any

from allennlp_sentmatch.estimators.fine_tuning import FineTuning
from allennlp_sentmatch.estimators.heads import LINEAR_MATCHERS, TRAINED_MATCHERS
from allennlp_sentmatch.estimators.settings import read_attributes
from allennlp_sentmatch.files.messages import did_you_mean
from allennlp_sentmatch.nn.checks import POSITIVE, TRUTH, integer, optional

PARAMETERS = {
    "compare_words": optional(TRUTH),
    "l2": optional(POSITIVE),
    "random_state": optional(integer(least=0, most=2**32 - 1)),
}


def checked_parameters(estimator: Any) -> dict[str, Any]:
    """Return all parameters of a `PairEstimator` but the encoder, as Python's own types.

    Raises `ValueError`, which names the parameter, for an invalid one.
    """
    parameters: dict[str, Any] = estimator.get_params(deep=False)
    del parameters["encoder"]
    parameters |= read_attributes(estimator, PARAMETERS)
    head = estimator.head  # which a subclass need not have as a parameter
    matcher = estimator.matcher
    if head is None:
        _check_linear_matcher(matcher)
    elif not isinstance(head, FineTuning):
        raise ValueError(f"head must be FineTuning(...) or None; got {head!r:.50}")
    parameters["matcher"] = str(matcher)
    parameters["head"] = None if head is None else head.checked()
    return parameters


def _check_linear_matcher(matcher: Any) -> None:
    """Raise a `ValueError` unless a linear head has this matcher."""
    if isinstance(matcher, str) and matcher in LINEAR_MATCHERS:
        return
    known = [*LINEAR_MATCHERS, *TRAINED_MATCHERS]
    meant = did_you_mean(matcher, known) if isinstance(matcher, str) else ""
    raise ValueError(
        f"matcher must be one of {', '.join(LINEAR_MATCHERS)}, or with FineTuning() one of "
        f"{', '.join(TRAINED_MATCHERS)}; got {matcher!r:.50}{meant}"
    )
