"""Checks and escapes of text from outside, and scripts without spaces."""

import re
from collections.abc import Iterable
from typing import Any

import regex

from allennlp_sentmatch.errors import ConfigurationError, configuration_errors
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.texts import checked_text

_BRACKETS = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}"}
_ESCAPE = re.compile(r"-([LR][RSC]B)-|\\([/*])", re.IGNORECASE)

UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*"
)
"""A character, with its marks, of a script that has no spaces between words."""


def check_text(text: Any, name: str) -> str:
    r"""Return a text that can be read, as a plain string.

    Half of a UTF-16 pair, such as JSON's `"\ud800"`, cannot be read: no encoding can write it.
    spaCy's tokenizer and the vocabulary's files would fail on it later, without its place.

    Raise `ConfigurationError`, which begins with `name`.
    """
    if not isinstance(text, str):
        raise ConfigurationError(
            f"{name} must be a string, not {shorten(text)} of type {type(text).__name__}"
        )
    with configuration_errors():
        return checked_text(text, name, of_any_length=True)


def unescape(text: str) -> str:
    r"""Undo the Penn Treebank's escapes, such as `-LRB-` for brackets, and `\/` and `\*` for marks.

    Takes a token, or a text of several. Quotation marks stay as they are: the treebank's (two
    backquotes, two apostrophes) distinguish left and right, and word vectors include them.
    """

    def plain(match: "re.Match[str]") -> str:
        return match[2] or _BRACKETS[match[1].upper()]

    return _ESCAPE.sub(plain, text)


def is_unsplit(tokens: Iterable[str]) -> bool:
    """Return whether the tokens of a text in a script without spaces are clauses rather than words.

    The words of these languages have at most four characters on average.
    """
    lengths = [len(UNSPACED.findall(token)) for token in tokens if not token.isascii()]
    return sum(lengths) > 4 * sum(map(bool, lengths))
