"""Settings of estimators: `fit` checks them when it begins, as in scikit-learn."""

import sys
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy


class Numbers(NamedTuple):
    """The numbers that a setting may have."""

    kind: type  # `bool`, `int` or `float`
    lower: float  # an exclusive lower bound
    upper: float  # an exclusive upper bound
    form: str  # a description; if it ends in "None", the setting may also be `None`


TRUTH = Numbers(bool, -1, 2, "True or False")
COUNT = Numbers(int, 0, sys.maxsize, "an integer above 0")
POSITIVE = Numbers(float, 0, sys.float_info.max, "a number above 0")
SHARE = Numbers(float, 0, 1, "a number between 0 and 1")


def checked_numbers(settings: Any, expected: Mapping[str, Numbers]) -> dict[str, Any]:
    """Return the attributes of `settings` with the names in `expected`, as Python's own types.

    Raises `ValueError`, which names the setting, for an invalid one.
    """
    checked = {}
    for name, numbers in expected.items():
        value = given = getattr(settings, name)
        if isinstance(value, numpy.generic):
            value = value.item()
        if value is not None or not numbers.form.endswith("None"):
            is_kind = isinstance(value, {bool: bool, int: Integral, float: Real}[numbers.kind])
            is_right = is_kind and isinstance(value, bool) == (numbers.kind is bool)
            if not is_right or not numbers.lower < value < numbers.upper:
                raise ValueError(f"{name} must be {numbers.form}; got {given!r:.50}")
            value = numbers.kind(value)
        checked[name] = value
    return checked
