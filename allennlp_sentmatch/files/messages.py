"""Short representations of untrusted values, for messages about them."""

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

_short_repr = reprlib.Repr()
_short_repr.maxstring = _short_repr.maxother = 80


def printable(text: str) -> str:
    r"""Return the text with lone surrogates as `\ud800`, which any terminal and file accepts."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(value: Any) -> str:
    """Return a `repr` that is cut short, for errors about values of any size and depth.

    Strings have at most 80 characters, and lists a few elements.
    """
    try:
        return printable(_short_repr.repr(value))
    except ValueError:
        # Python refuses to write very long integers.
        return f"an integer of too many digits, or a {type(value).__name__} with one"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: the most similar known one, if any."""
    matches = get_close_matches(name, known, n=1)
    return f": did you mean {matches[0]!r}?" if matches else ""
