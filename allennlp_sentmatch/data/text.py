"""Checks, short displays and escapes of text from outside, and scripts without spaces."""

import re
import reprlib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import regex
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.standalone.texts import checked_text

_BRACKETS = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}"}
_ESCAPE = re.compile(r"-([LR][RSC]B)-|\\([/*])", re.IGNORECASE)

UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*"
)
"""A character, with its marks, of a script that has no spaces between words."""

_short_repr = reprlib.Repr()
_short_repr.maxstring = _short_repr.maxother = 80


def check_text(text: Any, name: str) -> str:
    r"""Return a text that can be read, as a plain string.

    Half of a UTF-16 pair, which JSON's `"\ud800"` is, cannot be read: no encoding can write it.
    spaCy's tokenizer and the vocabulary's files would fail on it later, without its place.

    Raises a `ConfigurationError`, which begins with `name`.
    """
    if not isinstance(text, str):
        raise ConfigurationError(
            f"{name} must be a string, not {shorten(text)} of type {type(text).__name__}"
        )
    try:
        return checked_text(text, name, of_any_length=True)
    except ValueError as error:
        raise ConfigurationError(str(error)) from None


def printable(text: str) -> str:
    r"""The text with lone surrogates as `\ud800`, so that any terminal and file takes it."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(value: Any) -> str:
    """A value's `repr`, cut short: for errors about values of any size and depth."""
    try:
        return printable(_short_repr.repr(value))
    except ValueError:
        # Python refuses to write very long integers.
        return f"an integer of too many digits, or a {type(value).__name__} with one"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: the known one that is most like it, if any is."""
    matches = get_close_matches(name, known, n=1)
    return f": did you mean {matches[0]!r}?" if matches else ""


def unescape(text: str) -> str:
    r"""Undo the Penn Treebank's escapes: `-LRB-` and its like are brackets, `\/` and `\*` marks.

    Works on a token and on a text of several. Quotation marks are left as they are: the treebank's
    (two backquotes, two apostrophes) distinguish left and right, and word vectors include them.
    """
    return _ESCAPE.sub(lambda match: match[2] or _BRACKETS[match[1].upper()], text)


def is_unsplit(tokens: Iterable[str]) -> bool:
    """Whether the tokens of a text in a script without spaces are clauses rather than words.

    The words of these languages have at most four characters on average.
    """
    lengths = [len(UNSPACED.findall(token)) for token in tokens if not token.isascii()]
    return sum(lengths) > 4 * sum(map(bool, lengths))
