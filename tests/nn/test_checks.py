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

OTHERS = {
    "num_labels": 2,
    "has_states": True,
    "decoder": nn.LSTMDecoder(5, 6),
    "attention": None,
}
MAY_BE_ZERO = [
    (nn.MLPClassifier, "num_layers"),
    (nn.ConditionalLanguageModel, "num_labels"),
    (nn.PairComparison, "num_word_features"),
]


def modules() -> list[type]:
    """Return the modules that the room exports, without abstract ones."""
    exported = [*vars(nn).values(), *vars(matching).values()]
    found = []
    for kind in exported:
        is_module = inspect.isclass(kind) and issubclass(kind, torch.nn.Module)
        if is_module and not inspect.isabstract(kind) and kind not in found:
            found.append(kind)
    return found


def valid_settings(kind: type) -> dict[str, Any]:
    """Return a value for each size, dropout and other argument without a default."""
    settings = {}
    for name in inspect.signature(kind).parameters:
        if name.endswith("dropout"):
            settings[name] = 0.0
        elif re.search("_size$|^num_|rank", name):
            settings[name] = 4
        if name in OTHERS:
            settings[name] = OTHERS[name]
    return settings


def sizes_and_dropouts() -> Iterator[tuple[type, dict[str, Any], str]]:
    """Yield each module with valid settings, and the name of one of its sizes or dropouts."""
    for kind in modules():
        settings = valid_settings(kind)
        for name in settings:
            is_number = re.search("_size$|^num_|rank|dropout$", name)
            if is_number and (kind, name) not in MAY_BE_ZERO:
                yield kind, settings, name


@pytest.mark.parametrize(("kind", "settings", "name"), list(sizes_and_dropouts()))
def test_every_size_and_dropout_is_checked(kind, settings, name):
    kind(**settings)
    impossible = (1.0, -0.1) if name.endswith("dropout") else (0, -2)
    for value in impossible:
        wrong = {**settings, name: value}
        with pytest.raises(ValueError, match=f"^{name} must be .* of at least .*; got {value}"):
            kind(**wrong)


IMPOSSIBLE = [
    (nn.CellAwareLSTM, "vertical_weight", 0.0),
    (nn.CellAwareLSTM, "vertical_weight", 1),
    (nn.CellAwareLSTM, "vertical_weight", 1.5),
    (nn.CellAwareLSTM, "vertical_weight", [0.5]),
    (nn.CellAwareLSTM, "vertical_weight", True),
    (nn.CellAwareLSTM, "vertical_weight", "learned"),
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


@pytest.mark.parametrize("value", [0, -1, 6.0, "6", None, True])
def test_the_first_number_that_is_not_positive_is_named(value):
    check_positive(first=1, second=300)
    message = rf"^second must be an integer of at least 1; got {value!r}$"
    with pytest.raises(ValueError, match=message):
        check_positive(first=1, second=value, third=-1)


@pytest.mark.parametrize("value", [1, -0.1, math.nan, "0.5", None, True])
def test_the_first_number_that_is_no_fraction_is_named(value):
    check_fraction(first=0, second=0.999)
    message = rf"^second must be a number of at least 0 and below 1; got {value!r}$"
    with pytest.raises(ValueError, match=message):
        check_fraction(first=0, second=value, third=-1)


@pytest.mark.parametrize(("kind", "setting", "value"), IMPOSSIBLE)
def test_other_impossible_settings_are_named(kind, setting, value):
    sizes = {} if kind is nn.DistillationLoss else {"input_size": 4, "hidden_size": 3}
    wrong = {**sizes, setting: value}
    with pytest.raises(ValueError, match=f"{setting}.* must .*{re.escape(str(value))}"):
        kind(**wrong)


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
        "a number above 1 and below 2, or 'a'",
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


def nested_list(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    "value",
    [
        nested_list(100_000),
        "x" * 10**6,
        [1] * 10**6,
        dict.fromkeys(range(10**5)),
        HUGE,
        [10**5000],
    ],
    ids=["nested", "string", "list", "dict", "huge", "list of a huge number"],
)
def test_errors_are_short_whatever_the_value_is(value):
    with pytest.raises(ValueError, match=r"^name must be true or false; got ") as error:
        TRUTH.check("name", value)
    assert len(str(error.value)) < 200


def test_a_table_of_kinds():
    kinds = {
        "size": COUNT,
        "rate": optional(number(above=0)),
        "kind": one_of("a"),
    }
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
