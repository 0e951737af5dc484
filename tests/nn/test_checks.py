"""Every impossible setting is a `ValueError` that names it."""

import inspect
import math
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
import pytest
import torch

from allennlp_sentmatch import nn
from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.nn.checks import (
    COUNT,
    TRUTH,
    check_fraction,
    check_positive,
    either,
    integer,
    number,
    object_of_type,
    one_of,
    optional,
    read_given,
    read_settings,
)

OTHERS = {"num_labels": 2, "has_states": True, "decoder": nn.LSTMDecoder(5, 6), "attention": None}
MAY_BE_ZERO = [(nn.MLPClassifier, "num_layers"), (nn.ConditionalLanguageModel, "num_labels")]


def sizes_and_dropouts() -> Iterator[tuple[type, dict[str, Any], str]]:
    """Each module with valid settings, and the name of one of its sizes or dropouts."""
    kinds = [x for x in (*vars(nn).values(), *vars(matching).values()) if inspect.isclass(x)]
    for kind in dict.fromkeys(x for x in kinds if issubclass(x, torch.nn.Module)):
        names = list(inspect.signature(kind).parameters)
        numbers = [x for x in names if re.search("_size$|^num_|rank|dropout$", x)]
        settings = {x: 0.0 if x.endswith("dropout") else 4 for x in numbers}
        settings.update((x, OTHERS[x]) for x in names if x in OTHERS)
        if not inspect.isabstract(kind):
            yield from ((kind, settings, x) for x in numbers if (kind, x) not in MAY_BE_ZERO)


@pytest.mark.parametrize(("kind", "settings", "name"), list(sizes_and_dropouts()))
def test_every_size_and_dropout_is_checked(kind, settings, name):
    kind(**settings)
    for value in (1.0, -0.1) if name.endswith("dropout") else (0, -2):
        wrong = {**settings, name: value}
        with pytest.raises(ValueError, match=f"^{name} must be .* of at least .*; got {value}"):
            kind(**wrong)


IMPOSSIBLE = [
    *((nn.CellAwareLSTM, "vertical_weight", x) for x in (0.0, 1, 1.5, [0.5], True, "learned")),
    (nn.CellAwareLSTM, "vertical_gate", "cell"),
    (nn.CellAwareLSTMDecoder, "vertical_weight", 1.5),
    (nn.SuffixBiLSTM, "combination", "sum"),
    (nn.SuffixBiLSTM, "cell", "rnn"),
    (nn.SuffixBiLSTM, "max_context", 0),
    (nn.RecurrentlyControlledRNN, "cell", "rnn"),
    (nn.RecurrentlyControlledRNN, "output_gate", "tanh"),
    (nn.StackedRNN, "cell", "rnn"),
    (nn.GumbelTreeLSTM, "leaf", "gru"),
    (nn.GumbelTreeLSTM, "temperature", 0.0),
    (partial(nn.MLPClassifier, num_labels=3), "num_layers", -1),
    (partial(nn.MLPClassifier, num_labels=3), "activation", "gelu"),
    (nn.DistillationLoss, "cosine_weight", -1.0),
    (nn.DistillationLoss, "similarity_weight", float("inf")),
    (nn.DistillationLoss, "squared_error_weight", float("nan")),
]


@pytest.mark.parametrize(("kind", "setting", "value"), IMPOSSIBLE)
def test_other_impossible_settings_are_named(kind, setting, value):
    sizes = {} if kind is nn.DistillationLoss else {"input_size": 4, "hidden_size": 3}
    wrong = {**sizes, setting: value}
    with pytest.raises(ValueError, match=f"{setting}.* must .*{re.escape(str(value))}"):
        kind(**wrong)


OF_A_SIZE = "an integer of at least 1"
OF_A_FRACTION = "a number of at least 0 and below 1"


@pytest.mark.parametrize(
    ("check", "good", "value", "message"),
    [
        *((check_positive, (1, 300), x, OF_A_SIZE) for x in (0, -1, 6.0, "6", None, True)),
        *((check_fraction, (0, 0.999), x, OF_A_FRACTION) for x in (1, -0.1, math.nan)),
        *((check_fraction, (0, 0.999), x, OF_A_FRACTION) for x in ("0.5", None, True)),
    ],
)
def test_the_first_wrong_number_is_named(check, good, value, message):
    check(first=good[0], second=good[1])
    with pytest.raises(ValueError, match=rf"^second must be {message}; got {value!r}$"):
        check(first=good[0], second=value, third=-1)


HUGE = 10**400  # above all floats

KINDS = [
    (integer(), "an integer", [-3, HUGE, numpy.int64(5)], [True, 2.0, "2", None]),
    (integer(least=2), "an integer of at least 2", [2, HUGE], [1, -HUGE, math.inf]),
    (integer(least=2, most=5), "an integer from 2 to 5", [2, 5], [1, 6]),
    (number(), "a number", [-1, 2.5, numpy.float32(1)], [math.nan, -math.inf, HUGE, "1", True]),
    (number(), "a number", [numpy.float16(0.5)], [numpy.float32("inf"), numpy.float16("nan")]),
    (number(least=0, below=1), "a number of at least 0 and below 1", [0, 0.5], [1, -1e-9]),
    (number(above=0), "a number above 0", [1e-300, 7], [0, -0.0, math.inf]),
    (number(above=0, most=1), "a number above 0 and at most 1", [1, 0.5], [0, 1.5, None]),
    (one_of("a", "b"), "one of a, b", ["a", "b"], ["c", None, ["a"], b"a", {}]),
    (TRUTH, "true or false", [True, False], [1, 0, "true", None]),
    (
        object_of_type("a", "b"),
        "an object of type a or b",
        [{"type": "a"}],
        [{}, "a", {"type": []}],
    ),
    (
        either(number(above=1, below=2), one_of("a")),
        "a number above 1 and below 2, or one of a",
        [1.5, "a"],
        [1, "b", True, None],
    ),
    (optional(COUNT), "an integer of at least 1, or None", [None, 1], [0, "None", False]),
    (optional(TRUTH, "null"), "true or false, or null", [None, True], [0, "null"]),
]


@pytest.mark.parametrize(("kind", "form", "good", "wrong"), KINDS)
@pytest.mark.filterwarnings("error")  # NumPy warns if it compares narrow floats with a large one
def test_a_kind_accepts_what_its_form_says(kind, form, good, wrong):
    for value in good:
        kind.check("name", value)
    for value in wrong:
        message = f"name must be {form}; got {repr(value)[:12]}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            kind.check("name", value)


def test_errors_are_short_whatever_the_value_is():
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    for value in (nested, "x" * 10**6, [1] * 10**6, dict.fromkeys(range(10**5)), HUGE, [10**5000]):
        with pytest.raises(ValueError, match=r"^name must be true or false; got ") as error:
            TRUTH.check("name", value)
        assert len(str(error.value)) < 200


def test_a_table_of_kinds():
    kinds = {"size": COUNT, "rate": optional(number(above=0)), "kind": one_of("a")}
    given = {"size": numpy.int64(3), "rate": 1, "kind": "a"}
    read = read_settings(given, kinds)
    assert read == given
    assert [type(value) for value in read.values()] == [int, float, str]
    assert read_settings({**given, "rate": None}, kinds)["rate"] is None
    assert read_given({"rate": 2, "other": object()}, kinds) == {"rate": 2.0}
    with pytest.raises(ValueError, match=r"^there is no setting 'kind'$"):
        read_settings({"size": 3, "rate": 1}, kinds)
    with pytest.raises(ValueError, match=r"^there is a superfluous setting 'more'$"):
        read_settings({**given, "more": 1}, kinds)
    with pytest.raises(ValueError, match=r"^rate must be a number above 0, or None; got 0$"):
        read_given({"rate": 0}, kinds)
