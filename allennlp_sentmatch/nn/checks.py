"""Checks of settings, with errors that name the setting."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Optional


def check_positive(**sizes: int) -> None:
    """Raise a `ValueError` that names the first size that is not an integer of at least 1."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, Integral):
            shown = " ".join(repr(size).split())  # a table's `repr` has several lines
            raise ValueError(f"{name} must be an integer, got {shown:.100}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_at_least(least: float, **numbers: Optional[float]) -> None:
    """Raise a `ValueError` that names the first number below `least`. `None` passes."""
    for name, number in numbers.items():
        if number is not None and not number >= least:  # also true for NaN
            raise ValueError(f"{name} must be at least {least}, got {number}")


def check_above(bound: float, **numbers: float) -> None:
    """Raise a `ValueError` that names the first number that is not above `bound`."""
    for name, number in numbers.items():
        if not number > bound:  # also true for NaN
            raise ValueError(f"{name} must be above {bound}, got {number}")


def check_fraction(**fractions: float) -> None:
    """Raise a `ValueError` that names the first number that is not at least 0 and below 1."""
    for name, fraction in fractions.items():
        if isinstance(fraction, bool) or not isinstance(fraction, Real):
            raise ValueError(f"{name} must be a number, got {fraction!r:.100}")
        if not 0 <= fraction < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, got {fraction}")


def check_choice(*choices: str, **settings: str) -> None:
    """Raise `ValueError`, which names the first setting that is not one of `choices`."""
    for name, setting in settings.items():
        if setting not in choices:
            *others, last = (f'"{choice}"' for choice in choices)
            raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {setting!r:.100}")


def check_names(kind: str, given: Collection[str], expected: Collection[str]) -> None:
    """Raise `ValueError`, which names the first setting that is in only one of the two, or differs
    in kind.
    """
    for name in sorted(set(given) ^ set(expected)):
        lack = "no" if name in expected else "a superfluous"
        raise ValueError(f"there is {lack} {kind} {name[:100]!r}")
