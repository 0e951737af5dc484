"""Shared strategies of hypothesis for broken input."""

from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any, Callable, Optional

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allennlp_sentmatch.commands.program import mistake

NASTY = [
    "",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    '"',
    '""',
    ",",
    ";",
    "|",
    "'",
    "\\",
    "\0",
    "\x1a",
    "\x85",
    "\ufeff",
    "\u2028",
    "\ud800",
    "a\udfff",
    "\U0001f600",
    "\u0301",
    "é",
    "\u200d",
    "-",
    "0",
    "1",
    "2",
    "nan",
    "inf",
    "-1e999",
    "9" * 5000,
    "1_0",
    "true",
    "null",
    "label",
    "(" * 500,
    ")" * 500,
    "a" * 2000,
    "'s" * 100,
    "$1." * 100,
    "https://a.b/?c=" * 20,
    "@@PADDING@@",
    "@@UNKNOWN@@",
    "@start@",
    "@end@",
    "[PAD]",
    "-LRB-",
    "\\/",
    "[",
    "]",
    "{",
    "}",
    "[]",
    "{}",
    "[" * 2000 + "]" * 2000,
    '{"a":' * 1500,
    '{"a": 1, "a": 2}',
    "(3 (2 a) (4 b))",
    "(3 a",
    "(9 a)",
    "()",
    "(3 )",
    "(1 " * 1200 + "a" + ")" * 1200,
    "NUM:date When ?",
    "entailment",
    "A man sleeps.",
    "a b c",
]

texts = st.one_of(
    st.sampled_from(NASTY),
    # Unlike hypothesis's default, lone surrogates are among the characters.
    st.text(st.characters(exclude_categories=()), max_size=20),
    st.lists(st.sampled_from(NASTY[:32] + ["word"]), max_size=5).map(" ".join),
)

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.just(10**400), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NASTY), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def changed_bytes(draw: Any, content: bytes) -> bytes:
    """The bytes of a valid file after a few changes."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = start + draw(st.sampled_from([0, 1, 2, 50]))
        insertion = draw(
            st.one_of(
                st.binary(max_size=3),
                st.sampled_from(NASTY).map(lambda text: text.encode("utf-8", "surrogatepass")),
            )
        )
        content = content[:start] + insertion + content[end:]
    return content


@st.composite
def damaged(draw: Any, content: bytes) -> Optional[bytes]:
    """A valid file after damage as by a bad disk; `None`, no file, in one case of twenty.

    Most changes affect the first bytes, which determine the meaning of the others.
    """
    kind = draw(st.integers(0, 19))
    if kind == 0:
        return None
    if kind < 4:
        return draw(changed_bytes(content))
    if kind < 6:
        return content[: draw(st.integers(0, len(content)))]
    last = len(content) - 1
    for _ in range(draw(st.integers(1, 3))):
        position = draw(st.one_of(st.integers(0, min(last, 300)), st.integers(0, last)))
        flipped = content[position] ^ draw(st.integers(1, 255))
        content = content[:position] + bytes([flipped]) + content[position + 1 :]
    return content


@st.composite
def changed_json(draw: Any, value: Any) -> Any:
    """A JSON value with a few parts removed, replaced or added."""
    root = [deepcopy(value)]
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(root))
        container, key = draw(st.sampled_from(places))
        change = draw(st.sampled_from(["remove", "replace", "add", "swap"]))
        if change == "remove" and container is not root:
            del container[key]
        elif change == "add" and isinstance(container, dict):
            container[draw(st.sampled_from(NASTY))] = draw(values)
        elif change == "swap":
            other, other_key = draw(st.sampled_from(places))
            container[key] = deepcopy(other[other_key])
        else:
            container[key] = draw(values)
    return root[0]


def _places(container: Any) -> Iterator[tuple[Any, Any]]:
    """Each container within a value, with each of its keys."""
    keys = container if isinstance(container, dict) else range(len(container))
    for key in keys:
        yield container, key
        if isinstance(container[key], (dict, list)):
            yield from _places(container[key])


def nested(depth: int) -> list[Any]:
    """Lists within lists."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def cases(few: int, many: int) -> pytest.MarkDecorator:
    """Parametrizes a test by a number of cases: a few, or many in a slow test."""
    return pytest.mark.parametrize(
        "num_cases", [few, pytest.param(many, marks=pytest.mark.slow)], ids=["few", "many"]
    )


def check_refusal(error: Exception, name: str, most_bytes: int = 5000) -> None:
    """Check that an error's message contains a name, and is not too long."""
    assert name in str(error)
    assert len(str(error).encode("utf-8", "replace")) < most_bytes


def check_sentence(error: Exception, *parts: str, most_bytes: int = 5000) -> None:
    """Check that the program `allennlp` reports an error in a short sentence with these parts."""
    sentence = mistake(error)
    if sentence is None:
        raise error
    assert 10 < len(sentence.encode("utf-8", "replace")) < most_bytes
    assert all(part in sentence for part in parts), sentence


def check_cases(check: Callable[[Any], None], strategy: Any, num_cases: int) -> None:
    """Call `check` with this many examples of a strategy; in a slow test, each must take under 5
    s.
    """
    deadline = timedelta(seconds=5) if num_cases >= 1000 else None
    run = settings(
        max_examples=num_cases,
        deadline=deadline,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(given(strategy)(check))
    run()


def replace(path: Path, content: Optional[bytes]) -> None:
    """Replace the file at a path, since the old one may be mapped; remove it if the content is
    `None`.
    """
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
