"""Pairs of sentences and their labels or scores, as users give them.

They come from lists, arrays, data frames, tables of Arrow and records. Errors name the pair by its
position, counted from 0.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Optional

import numpy

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.files.texts import Sentences, checked_text, listed

_UNSAFE = re.compile("[\ud800-\udfff]|\0$")  # NumPy strips trailing null characters

# Scalars that have no number of Python's: a masked value would become 0, a date nanoseconds.
_NO_NUMBERS = (numpy.ma.core.MaskedConstant, numpy.datetime64, numpy.timedelta64)


class Pairs(NamedTuple):
    """N pairs of sentences."""

    first: Sentences
    second: Sentences
    names: Optional[tuple[str, ...]]
    """The two different names of the columns, if the pairs are a data frame, a table or records."""


def checked_pairs(X: Any, names: Optional[Iterable[str]] = None) -> Pairs:
    """Return the first and the second sentences of N pairs.

    # Parameters

    X : `Any`
        A list of pairs of strings, a NumPy array (N, 2), a data frame of two columns, or records:
        mappings with the same two keys, such as rows of `datasets` and of an Arrow table, named
        tuples, and rows of a structured array.
    names : `Iterable[str]`, optional (default = `None`)
        The names of the columns in `fit`. A data frame must have them in this order; records are
        read by name, regardless of the order of their keys.

    # Raises

    `TypeError` or `ValueError` for anything else, naming the pair (counted from 0).
    """
    columns, pairs = _columns_and_pairs(X)
    keys: tuple[Any, ...] = ()  # the keys of records
    if columns is None:
        keys, _ = _contents(pairs[0], 0)
        if names is not None and set(keys) == set(names):
            keys = tuple(names)
        columns = keys
    first, second = _sides(pairs, keys)
    return Pairs(first, second, _checked_names(columns, names))


def _sides(pairs: Iterable[Any], keys: tuple[Any, ...]) -> tuple[Sentences, Sentences]:
    """Return the first and the second sentences of pairs; records are read by their `keys`.

    Raise `TypeError` or `ValueError`, with the position, for a pair with other keys, or of anything
    but two texts.
    """
    first = Sentences()
    second = Sentences()
    for position, pair in enumerate(pairs):
        found, texts = _contents(pair, position)
        if set(found) != set(keys):
            needed = f"the keys {_quoted(keys)}" if keys else "no keys"
            raise TypeError(f"pair {position} must have {needed}, like pair 0")
        if found != keys:
            texts = [texts[found.index(key)] for key in keys]
        first.append(checked_text(texts[0], f"pair {position}: the first sentence"))
        second.append(checked_text(texts[1], f"pair {position}: the second sentence"))
    return first, second


def _checked_names(
    columns: tuple[Any, ...],
    names: Optional[Iterable[str]],
) -> Optional[tuple[str, ...]]:
    """Return the columns' names, or `None` if they have no names that tell them apart.

    Raise `ValueError` if they are not the `names` in `fit`.
    """
    if not columns or not all(isinstance(column, str) for column in columns):
        return None
    if names is not None and columns != tuple(names):
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"{', '.join(names)}; got {', '.join(columns)}"
        )
    if columns[0] == columns[1]:  # as in `pandas.concat`
        return None
    return columns


def _columns_and_pairs(X: Any) -> tuple[Optional[tuple[Any, ...]], list[Any]]:
    """Return the names of a data frame's two columns, or `None` for anything else, and the pairs.

    Raise `TypeError` or `ValueError` if there is no pair, and for what cannot be a list of pairs.
    """
    columns: Optional[tuple[Any, ...]] = None
    if hasattr(X, "to_pylist"):  # a table of Arrow
        X = X.to_pylist()
    elif hasattr(X, "to_numpy") and hasattr(X, "columns"):  # a data frame
        columns = tuple(X.columns)
        if len(columns) != 2:
            raise ValueError(
                "expected a data frame with the two columns of the sentences only, such as "
                f"X[['first', 'second']]; this one has the columns {_quoted(columns)}"
            )
        X = X.to_numpy()
    elif isinstance(X, Mapping) and all(isinstance(text, str) for text in X.values()):
        X = list(X.values())  # a single record, which is refused below
    pairs = listed(
        X,
        "pairs must be a list of pairs of strings or of records, an array, or a data frame",
        "join two columns, such as list(zip(first, second))",
    )
    if not pairs:
        raise ValueError("there are 0 pairs; at least one is needed")
    if len(pairs) == 2 and all(isinstance(pair, str) for pair in pairs):
        raise TypeError(
            "expected a list of pairs, not two strings; a single pair goes into a list, as "
            "[(first, second)]"
        )
    return columns, pairs


def listed_scalars(values: Any, expected: str) -> list[Any]:
    """Return the elements of an iterable that has an order; see `listed`.

    Scalars of NumPy, torch and other packages become Python's own, if they are numbers or strings.
    """
    elements = listed(values, expected)
    if elements and getattr(elements[0], "ndim", 0) > 0:
        kind = type(elements[0]).__name__
        raise TypeError(f"{expected}, not of {kind}s; ravel() makes a list of a column (N, 1)")
    return [_own_scalar(element) for element in elements]


def _own_scalar(value: Any) -> Any:
    """Return another package's number or string as Python's own, and anything else as it is."""
    is_scalar = getattr(value, "ndim", 1) == 0
    return value.item() if is_scalar and not isinstance(value, _NO_NUMBERS) else value


def checked_targets(y: Any, count: int, numeric: bool) -> Array:
    """Return the labels, or the scores, of `count` pairs as an array (N,).

    Raise `ValueError` for a wrong number of them, and `ValueError` or `TypeError`, naming the pair,
    for a missing or invalid one, such as NaN.
    """
    kind = "score" if numeric else "label"
    values = listed_scalars(y, f"expected a list of {kind}s")
    if len(values) != count:
        raise ValueError(f"there are {count} pairs and {len(values)} {kind}s; expected one each")
    if numeric:
        for position, score in enumerate(values):
            _check_number(score, f"the score of pair {position}", "a number")
        return numpy.asarray(values, dtype=float)
    labels = [_checked_label(label, position) for position, label in enumerate(values)]
    array = numpy.asarray(labels)
    # In one array with "a", 1 becomes "1"; with 0.5, 2 ** 53 + 1 becomes 2.0 ** 53.
    if array.dtype == object or array.tolist() != labels:
        raise TypeError(
            "some labels are strings and others are numbers, or numbers are too large to be told "
            "apart; make all strings"
        )
    return array


def _checked_label(label: Any, position: int) -> Any:
    """Return a string or a number, the label of the pair at a position, if it can be saved."""
    name = f"the label of pair {position}"
    if not isinstance(label, str):
        _check_number(label, name, "a string or a number")
        return label
    if _UNSAFE.search(label):
        raise ValueError(
            f"{name} has half of a UTF-16 pair, or ends in a null character, and cannot be saved"
        )
    return str.__str__(label)  # `str` gives the name of an enum's member


def _check_number(value: Any, name: str, expected: str) -> None:
    """Raise `TypeError` for anything but a number, and `ValueError` for one that is not finite."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")
    if not abs(value) <= sys.float_info.max:
        shown = value if isinstance(value, float) else "too large a number"
        raise ValueError(f"{name} is {shown}; leave the pair out")


def _contents(pair: Any, position: int) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the keys of a pair, if it has any, and its two elements.

    Raise `TypeError`, or `ValueError` for a list, with the position, for anything but two elements.
    """
    keys: tuple[Any, ...] = ()
    elements: list[Any] = []
    described = type(pair).__name__
    if not isinstance(pair, (str, bytes, set, frozenset)):
        try:
            fields = _fields(pair)
            if fields is None and hasattr(pair, "keys"):
                keys = tuple(pair.keys())
                elements = [pair[key] for key in keys]
            else:
                keys = fields or ()
                elements = list(islice(pair, 3))  # the third one shows that there are too many
            described = f"a {described} of {len(pair)}"
        except TypeError:  # a number has no elements, and a generator no length
            pass
    if len(elements) == 2:
        return keys, elements
    if len(keys) > 2:
        described += f"; leave out all keys but two of {_quoted(keys)}"
    kind = ValueError if elements and not keys else TypeError
    raise kind(f"pair {position} must be two sentences, not {described}")


def _fields(pair: Any) -> Optional[tuple[str, ...]]:
    """Return the names of a named tuple's or a structured row's elements, or `None`."""
    if isinstance(pair, numpy.void):
        return pair.dtype.names
    if isinstance(pair, Sequence) and hasattr(pair, "_fields"):
        return tuple(pair._fields)
    return None


def _quoted(names: Iterable[Any]) -> str:
    """Return the first ten names, cut short, for messages."""
    return ", ".join(f"{name!r:.50}" for name in islice(names, 10))
