"""The parameters of Jsonnet functions, for errors about calls of them."""

import re
from collections.abc import Iterator
from pathlib import Path

from allennlp_sentmatch.files.messages import did_you_mean

_NO_PARAMETER = re.compile(r"function has no parameter (\w+)")
_IMPORT = re.compile(r"import\s+(['\"])(.+?)\1")
_COMMENT = re.compile(r"^\s*(//|#).*$", re.MULTILINE)
_OPENING = "([{"
_CLOSING = ")]}"
_QUOTES = "'\""


def unknown_parameter(message: str, sources: list[tuple[str, Path]]) -> str:
    """Return a sentence for Jsonnet's message about a parameter that a function does not have.

    It lists the function's parameters. For another message, the result is an empty string. The
    `sources` are pieces of Jsonnet, each with the folder that its imports are relative to.
    """
    unknown = _NO_PARAMETER.fullmatch(message)
    if unknown is None:
        return ""
    for text, folder in sources:
        for _, name in _IMPORT.findall(text):
            file = folder / name
            known = parameters(file.read_text("utf-8")) if file.is_file() else []
            if known and unknown[1] not in known:
                return (
                    f"{name} has no parameter {unknown[1]!r}{did_you_mean(unknown[1], known)}; its "
                    f"parameters are {', '.join(known)}"
                )
    return ""


def parameters(text: str) -> list[str]:
    """Return the names of the parameters of the first function in a Jsonnet text.

    They are empty if there is no function. Comments of whole lines are left out; default values may
    have commas, brackets and strings.
    """
    _, _, rest = _COMMENT.sub("", text).partition("function(")
    names = (re.match(r"\s*(\w+)", part) for part in _arguments(rest))
    return [name[1] for name in names if name]


def _arguments(text: str) -> Iterator[str]:
    """Yield the parts between commas, up to the bracket that closes the function's parameters."""
    depth = 0
    start = 0
    quote = ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        elif character in _OPENING:
            depth += 1
        elif depth and character in _CLOSING:
            depth -= 1
        elif not depth and character in ",)":
            yield text[start:position]
            start = position + 1
            if character == ")":
                return
