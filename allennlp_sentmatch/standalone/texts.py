"""Texts as users give them: one check and one policy for every entry point.

A text that is blank, or no string at all, is refused. Texts that are cut, and texts of which an
encoder knows no word, are encoded, and one warning a call says which they are.
"""

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, Callable, Optional
from unicodedata import category

NUM_SHOWN = 5
"""The number of texts whose positions a warning lists."""

KNOWS_NO_WORD = "the encoder knows no word of {}; the vectors of such texts say nothing"

# Letters and digits; the fillers of Hangul count as letters, but show nothing.
_LETTER = re.compile("[^\\W\u115f\u1160\u3164\uffa0]")
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
_INVISIBLE = ("Cc", "Cf", "Co", "Mn", "Zl", "Zp", "Zs")
_SURROGATE = re.compile("[\ud800-\udfff]")

Notes = dict[str, tuple[int, list[str]]]
"""For each message the number of texts that it holds for, and the first of them."""

_notes: ContextVar[Optional[Notes]] = ContextVar("notes", default=None)


class Sentences(list[str]):
    """Sentences that have been checked."""


def is_blank(text: str) -> bool:
    """Whether a text has nothing but spaces, controls, marks and other invisible characters."""
    return _LETTER.search(text) is None and all(
        category(character) in _INVISIBLE or character in _FILLERS for character in text
    )


def checked_text(
    text: Any, name: str, most_characters: Optional[int] = None, may_be_blank: bool = False
) -> str:
    """Return a text that can be encoded, as a plain string.

    # Raises

    `TypeError` or `ValueError`, which begins with `name`.
    """
    if not isinstance(text, str):
        is_nan = isinstance(text, float) and text != text
        shown = "NaN, a missing value" if is_nan else type(text).__name__
        remedy = "; take one column" if hasattr(text, "keys") else ""
        raise TypeError(f"{name} must be a string, not {shown}{remedy}")
    surrogate = None if text.isascii() else _SURROGATE.search(text)
    if surrogate is not None:
        raise ValueError(
            f"{name} has half of a UTF-16 pair at character {surrogate.start()}; remove it"
        )
    if not may_be_blank and is_blank(text):
        raise ValueError(f"{name} is blank; leave it out")
    if most_characters is not None and len(text) > most_characters:
        raise ValueError(
            f"{name} has {len(text):,} characters; at most {most_characters:,} can be encoded, so "
            "divide the text into sentences"
        )
    # Tokenizers do not take all subclasses, and `str` gives the name of an enum's member.
    return str.__str__(text)


def checked_sentences(
    sentences: Any, most_characters: Optional[int] = None, may_be_blank: bool = False
) -> Sentences:
    """The strings of a list or another iterable that has an order.

    # Raises

    `TypeError` for anything else, a single string included, and `TypeError` or `ValueError` for a
    text that cannot be encoded, with its position.
    """
    if isinstance(sentences, Sentences):
        return sentences
    texts = listed(sentences, "sentences must be a list or another iterable of strings")
    return Sentences(
        checked_text(text, f"sentence {position}", most_characters, may_be_blank)
        for position, text in enumerate(texts)
    )


def listed(values: Any, expected: str, columns: str = "take one column") -> list[Any]:
    """The elements of a list, an array, a column or another iterable that has an order.

    # Raises

    `TypeError`, which begins with what is `expected`, for anything else; for a table it ends with
    what to do with its `columns`.
    """
    remedy = ""
    if isinstance(values, (str, bytes)):
        remedy = "; a single one goes into a list"
    elif isinstance(values, Mapping) or hasattr(values, "columns"):
        remedy = f"; {columns}"
    elif isinstance(values, (set, frozenset)):
        remedy = ", which has no order"
    else:
        if hasattr(values, "to_pylist"):  # Arrow's elements are not Python's
            values = values.to_pylist()
        try:
            return list(iter(values))
        except TypeError:  # such as an array without dimensions
            pass
    raise TypeError(f"{expected}, not {type(values).__name__}{remedy}")


def note(message: str, text: str) -> None:
    """Note for `noting` that a message holds for a text; "{}" in it stands for all such texts."""
    notes = _notes.get()
    if notes is not None:
        count, first = notes.get(message, (0, []))
        notes[message] = (count + 1, first if len(first) == NUM_SHOWN else [*first, text])


def warn(message: str) -> None:
    """Warn the program that called this package, each time.

    `warnings.warn` would keep every different message for as long as the program runs.
    """
    frame = sys._getframe(1)
    inner = ("allennlp_sentmatch.", "contextlib", "torch.")
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(inner):
        frame = frame.f_back
    place = (frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__"))
    warnings.warn_explicit(message, UserWarning, *place)


@contextmanager
def noting(
    texts: Iterable[str],
    name: Callable[[int], str] = "sentence {}".format,
    warn: Callable[[str], object] = warn,
) -> Iterator[None]:
    """Warn once, at the end of a call, of what `note` was told of its texts.

    Within another `noting` this one does nothing: the outer call knows the texts' positions.

    # Parameters

    texts : `Iterable[str]`
        Those of the call. Others are not mentioned.
    name : `Callable[[int], str]`, optional (default = `"sentence {}".format`)
        What the text in a position is called.
    warn : `Callable[[str], object]`, optional (default = `warn`)
    """
    if _notes.get() is not None:
        yield
        return
    notes: Notes = {}
    token = _notes.set(notes)
    try:
        yield
    finally:
        _notes.reset(token)
    for message, (count, first) in notes.items():
        found = islice((item for item in enumerate(texts) if item[1] in first), NUM_SHOWN)
        if positions := dict(found):
            more = ", ..." if count > len(positions) else ""
            described = f"{count:,} {'text' if count == 1 else 'texts'} ("
            described += (
                f"{', '.join(map(name, positions))}{more}), of which the first begins with "
            )
            warn(message.format(described + repr(next(iter(positions.values()))[:50])))


def noting_pairs(first: Sequence[str], second: Sequence[str]) -> AbstractContextManager[None]:
    """`noting` for the sentences of N pairs."""
    names = ("the first sentence of pair {}", "the second sentence of pair {}")
    return noting([*first, *second], lambda i: names[i // len(first)].format(i % len(first)))
