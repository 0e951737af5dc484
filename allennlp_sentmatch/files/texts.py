"""Checks of users' texts, the same for every entry point.

Anything but a string is refused, and so is a blank text. Texts that are cut, or have no known word,
are encoded, and one warning for each call names them.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Callable, Optional
from unicodedata import category, combining, normalize

MAX_CHARACTERS = 10_000  # the longest text: a batch needs memory for it

KNOWS_NO_WORD = "the encoder knows no word of {}; the vectors of such texts say nothing"

NUM_NAMED = 5  # texts that a warning names
MOST_NOTED = 100_000  # different texts that a warning counts
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a Braille sign that are invisible
_LETTER = re.compile(f"[^\\W{_FILLERS}]")
_INVISIBLE = ("Cc", "Cf", "Co", "Mn", "Zl", "Zp", "Zs")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")

# The texts without a known word, while they are collected.
_unknown: ContextVar[Optional[set[str]]] = ContextVar("unknown", default=None)

# The different texts of each message, at most `MOST_NOTED`.
_notes: ContextVar[Optional[dict[str, set[str]]]] = ContextVar("notes", default=None)


class Sentences(list[str]):
    """Sentences that have been checked."""


def is_blank(text: str) -> bool:
    """Return whether all characters of a text are invisible, such as spaces and controls."""
    return not _LETTER.search(text) and all(
        category(character) in _INVISIBLE or character in _FILLERS for character in set(text)
    )


def bare_text(text: str) -> str:
    """Return the letters and digits of a text, in lower case and without accents.

    Texts for which it is equal have nearly the same vector: to learn one is to know the other.
    Spaces and marks are left out, except the vowel signs of Hindi, Thai and other scripts. A text
    without letters and digits stays as it is.
    """
    if text.isascii():
        return _NEITHER_LETTER_NOR_DIGIT.sub("", text.casefold()) or text
    plain = normalize("NFKD", text).casefold()
    return _NEITHER_LETTER_NOR_DIGIT.sub(_vowel_signs, plain) or text


def _vowel_signs(found: "re.Match[str]") -> str:
    """Return the characters that are vowels, but not letters for Python; unlike accents, they do
    not combine with the letter before them.
    """
    signs = (sign for sign in found[0] if "\u0900" <= sign <= "\u1fff")
    return "".join(sign for sign in signs if category(sign)[0] == "M" and not combining(sign))


def checked_text(text: Any, name: str, of_any_length: bool = False) -> str:
    """Return a text that can be encoded, as a plain string; errors begin with its `name`.

    Raise `TypeError` for anything but a string, and `ValueError` for a lone surrogate and, unless
    it may be `of_any_length`, for a blank text and one of more than `MAX_CHARACTERS`.
    """
    if not isinstance(text, str):
        raise _not_a_string(text, name)
    surrogate = None if text.isascii() else _SURROGATE.search(text)
    if surrogate is not None:
        raise ValueError(
            f"{name} has the lone surrogate {surrogate[0]!r} at character {surrogate.start()}, "
            "which is half of a UTF-16 pair; remove it"
        )
    if not of_any_length and is_blank(text):
        raise ValueError(f"{name} is blank; leave it out (and, in a pair, the other text)")
    if not of_any_length and len(text) > MAX_CHARACTERS:
        raise ValueError(
            f"{name} has {len(text):,} characters; at most {MAX_CHARACTERS:,} can be encoded, so "
            "divide the text into sentences"
        )
    # Tokenizers reject some subclasses, and `str` gives the name of an enum's member.
    return str.__str__(text)


def _not_a_string(value: Any, name: str) -> TypeError:
    """Return the error for a value that should be a text."""
    is_nan = isinstance(value, float) and value != value
    shown = "NaN, a missing value" if is_nan else type(value).__name__
    remedy = "; take one column" if hasattr(value, "keys") else ""
    return TypeError(f"{name} must be a string, not {shown}{remedy}")


def checked_sentences(sentences: Any, of_any_length: bool = False) -> Sentences:
    """Return the strings of an iterable that has an order; they are checked once.

    Rows of files may be `of_any_length`, blank or long. Raise `TypeError` for anything else,
    including a single string, and `TypeError` or `ValueError`, with the position, for a text that
    cannot be encoded; see `checked_text`.
    """
    if isinstance(sentences, Sentences):
        return sentences
    texts = listed(sentences, "sentences must be a list or another iterable of strings")
    return Sentences(
        checked_text(text, f"sentence {position}", of_any_length)
        for position, text in enumerate(texts)
    )


def listed(values: Any, expected: str, columns: str = "take one column") -> list[Any]:
    """Return the elements of an iterable that has an order, such as a list, an array or a column.

    Raise `TypeError`, which begins with `expected`, for anything else: a single string, a set, and
    a table, for which it ends with `columns`.
    """
    remedy = ""
    if isinstance(values, (str, bytes)):
        remedy = "; a single one goes into a list"
    elif isinstance(values, Mapping) or hasattr(values, "columns"):
        remedy = f"; {columns}"
    elif isinstance(values, (set, frozenset)):
        remedy = ", which has no order"
    else:
        try:
            if hasattr(values, "to_pylist"):  # Arrow has its own types of elements
                values = values.to_pylist()
            return list(iter(values))
        except TypeError:  # such as an array without dimensions
            pass
    raise TypeError(f"{expected}, not {type(values).__name__}{remedy}")


def note(message: str, text: str) -> None:
    """Record, for `noting`, that a message applies to a text; it has a placeholder for its name."""
    notes = _notes.get()
    unknown = _unknown.get()
    if unknown is not None and message == KNOWS_NO_WORD:
        unknown.add(text)
    if notes is not None:
        noted = notes.setdefault(message, set())
        if len(noted) < MOST_NOTED:
            noted.add(text)


@contextmanager
def collecting() -> Iterator[set[str]]:
    """Collect the encoded texts without a word that the encoder knows."""
    unknown: set[str] = set()
    token = _unknown.set(unknown)
    try:
        yield unknown
    finally:
        _unknown.reset(token)


def _warn(message: str) -> None:
    """Give a `UserWarning` that names no line of code."""
    # `warnings.warn` would keep every distinct message as long as the program runs.
    warnings.warn_explicit(message, UserWarning, "allennlp_sentmatch", 1)


@contextmanager
def noting(
    texts: Iterable[str],
    name: Callable[[int], str] = "sentence {}".format,
    warn: Callable[[str], object] = _warn,
) -> Iterator[None]:
    """Warn once, at the end, about a call's texts; see `note`.

    The warning has the number of the texts, counted each time they occur, and the names of the
    first `NUM_NAMED`; `name` turns a position, counted from 0, into a name. Within another
    `noting`, nothing happens: the outer call knows the positions.
    """
    if _notes.get() is not None:
        yield
        return
    token = _notes.set({})
    try:
        yield
        notes = _notes.get() or {}
    finally:
        _notes.reset(token)
    counts, places = _places(texts, notes)
    for message, count in counts.items():
        names = ", ".join(name(position) for position, _ in places[message])
        more = ", ..." if count > NUM_NAMED else ""
        least = "at least " if len(notes[message]) == MOST_NOTED else ""
        number = f"{least}{count:,} {'text' if count == 1 else 'texts'} ({names}{more})"
        _, first = places[message][0]
        warn(message.format(f"{number}, the first beginning with {first[:50]!r}"))


def _places(
    texts: Iterable[str], notes: Mapping[str, set[str]]
) -> tuple[Counter[str], dict[str, list[tuple[int, str]]]]:
    """Return the number of each message's texts, and the first `NUM_NAMED` with their positions.

    The texts, which may be the lines of a file, are read once, or not at all without messages.
    """
    counts = Counter[str]()
    places: dict[str, list[tuple[int, str]]] = {message: [] for message in notes}
    if not notes:
        return counts, places
    for position, text in enumerate(texts):
        for message, noted in notes.items():
            if text in noted:
                counts[message] += 1
                if counts[message] <= NUM_NAMED:
                    places[message].append((position, text))
    return counts, places


def noting_pairs(first: Sequence[str], second: Sequence[str]) -> AbstractContextManager[None]:
    """Warn about the sentences of N pairs; see `noting`."""

    def name(position: int) -> str:
        side, pair = divmod(position, len(first))
        return f"the {('first', 'second')[side]} sentence of pair {pair}"

    return noting([*first, *second], name)
