"""Pairs of sentences and their labels or scores, as users give them."""

import math
from typing import Any

import numpy

from allennlp_sentmatch.estimators.sentence_encoder import check_sentence


def checked_pairs(X: Any) -> tuple[list[str], list[str]]:
    """The first and the second sentences of N pairs.

    # Parameters

    X : `Any`
        A list of pairs of strings, a NumPy array (N, 2), or a data frame of two columns.

    # Raises

    `TypeError` or `ValueError` for anything else, naming the pair (counted from 0).
    """
    if hasattr(X, "to_numpy"):  # a data frame of pandas or Polars
        X = X.to_numpy()
    if isinstance(X, (str, bytes, dict)) or not hasattr(X, "__iter__"):
        raise TypeError(
            "pairs must be a list of pairs of strings, an array or a data frame of two columns, "
            f"not {type(X).__name__}"
        )
    sides: tuple[list[str], list[str]] = ([], [])
    for position, pair in enumerate(X):
        if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"pair {position} must be two sentences, not {_described(pair)}")
        for side, ordinal, text in zip(sides, ("first", "second"), pair):
            side.append(check_sentence(text, f"pair {position}: the {ordinal} sentence"))
    if not sides[0]:
        raise ValueError("there are 0 pairs; at least one is needed")
    return sides


def checked_targets(y: Any, count: int, numeric: bool) -> numpy.ndarray[Any, Any]:
    """The labels, or the scores, of `count` pairs as an array (N,).

    # Raises

    `TypeError` or `ValueError` for a wrong number of them, and for a missing or unfit one, naming
    its pair.
    """
    kind, form = ("score", "a number") if numeric else ("label", "a string or a number")
    if isinstance(y, (str, bytes, dict)) or not hasattr(y, "__iter__"):
        raise TypeError(f"expected a list of {kind}s, not {type(y).__name__}")
    values = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(values) != count:
        raise ValueError(
            f"there are {count} pairs and {len(values)} {kind}s; expected one for each"
        )
    for position, value in enumerate(values):
        if not isinstance(value, (int, float) if numeric else (str, int, float)):
            raise TypeError(f"the {kind} of pair {position} must be {form}, not {value!r:.50}")
        if not isinstance(value, str) and not math.isfinite(value):
            raise ValueError(f"the {kind} of pair {position} is {value}; leave the pair out")
    if len({isinstance(value, str) for value in values}) > 1:
        raise TypeError("some labels are strings and others are numbers; make all strings")
    return numpy.asarray(values, dtype=float if numeric else None)


def _described(pair: Any) -> str:
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__"):
        return type(pair).__name__
    return f"a {type(pair).__name__} of {len(pair)}"
