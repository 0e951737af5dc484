"""Settings and the kinds of values that they may have, with errors that name the setting.

A table `{name: kind}` says what the settings of a constructor, a folder or a request may be:

    read_settings(given, {"lowercase": TRUTH, "max_length": optional(COUNT)})
"""

import math
import operator
import reprlib
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any, Callable, NamedTuple, Optional

_display = reprlib.Repr()
"""Displays values of any size and depth, cut short."""
_display.maxstring = 80
_display.maxother = 80


class Kind(NamedTuple):
    """The values that a setting may have.

    # Attributes

    form : `str`
        What a value must be, in words, after "must be".
    accepts : `Callable[[Any], bool]`
        Whether a setting may have a value.
    convert : `Callable[[Any], Any]`, optional
        Turns an accepted value into Python's own type, such as a number of NumPy. By default, it
        does not change.
    """

    form: str
    accepts: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value

    def check(self, name: str, value: Any) -> None:
        """Raise a `ValueError` that names the setting if its value is not accepted."""
        if not self.accepts(value):
            raise ValueError(f"{name} must be {self.form}; got {_shown(value)}")


def _shown(value: Any) -> str:
    """Return a value's `repr` on one line, cut short."""
    try:
        return " ".join(_display.repr(value).split())  # a table's `repr` has several lines
    except ValueError:  # Python refuses to write very long integers
        return f"an integer of too many digits, or a {type(value).__name__} with one"


def integer(least: Optional[int] = None, most: Optional[int] = None) -> Kind:
    """Return the kind of integers, other than `True`, between two limits, which are included."""
    return _numbers("an integer", Integral, int, least=least, most=most)


def number(
    least: Optional[float] = None,
    most: Optional[float] = None,
    above: Optional[float] = None,
    below: Optional[float] = None,
) -> Kind:
    """Return the kind of finite numbers, other than `True`, between limits."""
    return _numbers("a number", Real, float, least, most, above, below)


def _numbers(
    noun: str,
    kind: type,
    convert: Callable[[Any], Any],
    least: Optional[float],
    most: Optional[float],
    above: Optional[float] = None,
    below: Optional[float] = None,
) -> Kind:
    limits: list[tuple[str, Callable[[Any, Any], bool], Optional[float]]] = [
        ("at least", operator.ge, least),
        ("above", operator.gt, above),
        ("at most", operator.le, most),
        ("below", operator.lt, below),
    ]
    given = [limit for limit in limits if limit[2] is not None]

    def accepts(value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, kind):
            return False
        number = _converted(value, convert)
        return number is not None and all(holds(number, bound) for _, holds, bound in given)

    form = noun
    if least is not None and most is not None:
        form = f"{noun} from {least:.10g} to {most:.10g}"
    elif given:
        words = " and ".join(f"{words} {bound:.10g}" for words, _, bound in given)
        form = f"{noun} {'of ' if words.startswith('at') else ''}{words}"
    return Kind(form, accepts, convert)


def _converted(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a number as Python's own type, in which NumPy's narrow floats cannot overflow.

    Return `None` for infinity, NaN and, if it is to be a `float`, an integer too large for one.
    """
    try:
        number = convert(value)
    except OverflowError:
        return None
    return number if isinstance(number, int) or math.isfinite(number) else None


def one_of(*choices: str) -> Kind:
    """Return the kind of strings that are among the choices; one choice is named in quotes."""
    form = f"one of {', '.join(choices)}" if len(choices) > 1 else repr(choices[0])
    return Kind(form, lambda value: isinstance(value, str) and value in choices, str)


def object_of_type(*types: str) -> Kind:
    """Return the kind of dictionaries, as from JSON, whose "type" is among the types."""
    name = one_of(*types)
    form = f"an object of type {' or '.join(types)}"
    return Kind(form, lambda value: isinstance(value, dict) and name.accepts(value.get("type")))


def either(*kinds: Kind) -> Kind:
    """Return the kind of values that one of the kinds accepts; the first of these converts them."""

    def convert(value: Any) -> Any:
        kind = next(kind for kind in kinds if kind.accepts(value))
        return kind.convert(value)

    form = ", or ".join(kind.form for kind in kinds)
    return Kind(form, lambda value: any(kind.accepts(value) for kind in kinds), convert)


def optional(kind: Kind, absent: str = "None") -> Kind:
    """Return the kind that also accepts `None`, which the error calls `absent`."""
    return either(kind, Kind(absent, lambda value: value is None))


ANYTHING = Kind("anything", lambda value: True)
TEXT = Kind("a string", lambda value: isinstance(value, str))
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
COUNT = integer(least=1)
POSITIVE = number(above=0)
FRACTION = number(least=0, below=1)
SHARE = number(most=1, above=0)
SEED = integer(least=0, most=2**32 - 1)  # what NumPy takes


def read_settings(settings: Mapping[str, Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the settings, converted.

    Raise a `ValueError` that names the first setting which is missing, superfluous or not of its
    kind.
    """
    check_names("setting", settings, kinds)
    return read_given(settings, kinds)


def read_given(settings: Mapping[str, Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the settings that the table has, converted; others may be missing or superfluous.

    Raise a `ValueError` that names the first setting which is not of its kind.
    """
    read = {}
    for name, kind in kinds.items():
        if name in settings:
            kind.check(name, settings[name])
            read[name] = kind.convert(settings[name])
    return read


def check_kind(kind: Kind, **settings: Any) -> None:
    """Raise a `ValueError` that names the first setting which is not of a kind."""
    for name, value in settings.items():
        kind.check(name, value)


def check_positive(**sizes: int) -> None:
    """Raise a `ValueError` that names the first size that is not an integer of at least 1."""
    check_kind(COUNT, **sizes)


def check_fraction(**fractions: float) -> None:
    """Raise a `ValueError` that names the first number that is not at least 0 and below 1."""
    check_kind(FRACTION, **fractions)


def check_choice(*choices: str, **settings: str) -> None:
    """Raise a `ValueError` that names the first setting that is not one of `choices`."""
    check_kind(one_of(*choices), **settings)


def check_names(
    kind: str,
    given: Collection[str],
    expected: Collection[str],
) -> None:
    """Raise a `ValueError` with the first name that is only given or only expected.

    `kind` is what the names are called in the message, such as "setting".
    """
    for name in sorted(set(given) ^ set(expected)):
        lack = "no" if name in expected else "a superfluous"
        raise ValueError(f"there is {lack} {kind} {name[:100]!r}")
