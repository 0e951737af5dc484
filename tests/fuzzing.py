"""Strategies of hypothesis for broken input, which the tests of readers and predictors share."""

from datetime import timedelta
from typing import Any, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NASTY = [
    *("", " ", "\t", "\n", "\r", "\r\n", '"', '""', ",", ";", "|", "'", "\\", "\0", "\x1a", "\x85"),
    *("\ufeff", "\u2028", "\ud800", "a\udfff", "\U0001f600", "\u0301", "é", "\u200d"),
    *("-", "0", "1", "2", "nan", "inf", "-1e999", "9" * 5000, "1_0", "true", "null", "label"),
    *("(" * 500, ")" * 500, "a" * 2000, "'s" * 100, "$1." * 100, "https://a.b/?c=" * 20),
    *("@@PADDING@@", "@@UNKNOWN@@", "@start@", "@end@", "[PAD]", "-LRB-", "\\/"),
    *("[", "]", "{", "}", "[]", "{}", "[" * 2000 + "]" * 2000, '{"a":' * 1500, '{"a": 1, "a": 2}'),
    *("(3 (2 a) (4 b))", "(3 a", "(9 a)", "()", "(3 )", "(1 " * 1200 + "a" + ")" * 1200),
    *("NUM:date When ?", "entailment", "A man sleeps.", "a b c"),
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


def check_cases(check: Callable[[Any], None], strategy: Any, num_cases: int) -> None:
    """Call `check` with that many examples of a strategy; in a slow test, none may take 5 s."""
    deadline = timedelta(seconds=5) if num_cases >= 1000 else None
    run = settings(
        max_examples=num_cases,
        deadline=deadline,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(given(strategy)(check))
    run()
