"""Pairs, labels and all arguments of the Python API, in users' forms."""

import traceback
import warnings
from collections import Counter, OrderedDict, UserDict, UserList, deque, namedtuple
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import numpy
import pandas
import pytest
import torch
from hypothesis import strategies as st

import allennlp_sentmatch
from allennlp_sentmatch import PairClassifier, PairRegressor, SentenceEncoder
from allennlp_sentmatch.estimators.pairs import checked_pairs, checked_targets
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder
from tests.fuzzing import cases, check_cases, check_refusal, texts, values

CATS = ("a cat", "a dog")


LETTERS = ("x", "y")


P = [CATS, LETTERS]
NAMES = ("text_a", "text_b")
RECORDS = [
    {"text_a": "a cat", "text_b": "a dog"},
    {"text_a": "x", "text_b": "y"},
]
REVERSED = [
    {"text_b": "a dog", "text_a": "a cat"},
    {"text_b": "y", "text_a": "x"},
]
FRAME = pandas.DataFrame(P, columns=NAMES)
Pair = namedtuple("Pair", ["text_a", "text_b"])
Reversed = namedtuple("Reversed", ["text_b", "text_a"])


@pytest.mark.parametrize(
    ("pairs", "names"),
    [
        (P, None),
        (numpy.array(P), None),
        (zip(["a cat", "x"], ["a dog", "y"]), None),
        ([Pair(*CATS), Pair(*LETTERS)], NAMES),
        (FRAME.itertuples(index=False), NAMES),
        ([Pair("a cat", "a dog"), Reversed("y", "x")], NAMES),
        (FRAME.to_records(index=False), NAMES),
        ([deque(CATS), deque(LETTERS)], None),
        ([record.values() for record in RECORDS], None),
        (pandas.Series(P, index=[5, 2]), None),
        (pandas.DataFrame(P), None),  # its columns are named 0 and 1
        (pandas.DataFrame(P, columns=["text", "text"]), None),
        (FRAME, NAMES),
        (FRAME.astype("string"), NAMES),
        (RECORDS, NAMES),
        ([MappingProxyType(RECORDS[0]), OrderedDict(REVERSED[1])], NAMES),
        ([row for _, row in FRAME.iterrows()], NAMES),
        ([UserDict(RECORDS[0]), UserDict(RECORDS[1])], NAMES),
        ([{0: "a cat", 1: "a dog"}, {1: "y", 0: "x"}], None),
    ],
    ids=lambda value: f"{type(value).__name__}",
)
def test_pairs_are_two_strings_in_a_known_order(pairs, names):
    first, second, found_names = checked_pairs(pairs)
    assert first == ["a cat", "x"]
    assert second == ["a dog", "y"]
    assert found_names == names


EXCHANGED = FRAME[["text_b", "text_a"]]


@pytest.mark.parametrize(
    "pairs",
    [
        EXCHANGED.itertuples(index=False),
        EXCHANGED.to_records(index=False),
        RECORDS,
        REVERSED,
        FRAME,
        P,
        numpy.array(P),
        FRAME.to_numpy(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_columns_have_the_order_of_fit(pairs):
    names = numpy.array(NAMES, dtype=object)
    first, second, _ = checked_pairs(pairs, names)
    assert first == ["a cat", "x"]
    assert second == ["a dog", "y"]


@pytest.mark.parametrize(
    "pairs",
    [
        FRAME.set_axis(["text_b", "text_a"], axis=1),
        FRAME.set_axis(["text_a", "text_c"], axis=1),
        [{"q1": "a", "q2": "b"}],
        # pandas names these _0 and _1
        FRAME.set_axis(["text a", "text b"], axis=1).itertuples(index=False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_columns_with_other_names_are_refused(pairs):
    with pytest.raises(ValueError, match=r"feature names should match those .* during fit: te"):
        checked_pairs(pairs, NAMES)


def test_tables_of_datasets_and_arrow():
    arrow = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    for table in (arrow.table(FRAME), datasets.Dataset.from_pandas(FRAME)):
        assert checked_pairs(table) == (["a cat", "x"], ["a dog", "y"], NAMES)
    labeled = datasets.Dataset.from_pandas(FRAME.assign(label=["yes", "no"]))
    with pytest.raises(TypeError, match="pair 0 must be two sentences, not a dict of 3"):
        checked_pairs(labeled)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([P[0], set(P[1])], "pair 1 must be two sentences, not set"),
        ({"premise": ["a"], "hypothesis": ["b"]}, r"not dict; join two columns, such as list\(zip"),
        (set(P), "not set, which has no order"),
        ([RECORDS[0], P[1]], "pair 1 must have the keys 'text_a', 'text_b', like pair 0"),
        ([P[0], RECORDS[1]], "pair 1 must have no keys, like pair 0"),
        ([{**RECORDS[0], "label": "yes"}], "pair 0 must be two sentences, not a dict of 3"),
        ([{"text_a": "x", "text_b": None}], "pair 0: the second sentence must be a string, not No"),
        ([numpy.array(3)], "pair 0 must be two sentences, not ndarray"),
        (numpy.array("ab"), "pairs must be .* not ndarray"),
        (torch.zeros(2, 2), "pair 0: the first sentence must be a string, not Tensor"),
        ([("a", "\u200b\ufeff")], "pair 0: the second sentence is blank"),
        (None, "pairs must be a list of pairs of strings.*not NoneType"),
        (b"ab", "pairs must be a list of pairs of strings.*not bytes"),
        ([], "there are 0 pairs"),
        (["ab"], "pair 0 must be two sentences, not str"),
        ([*P, ("a",)], "pair 2 must be two sentences, not a tuple of 1"),
        (pandas.DataFrame({"a": ["x"]}), "the two columns of the .*; this one has the columns 'a'"),
        (FRAME.assign(label=["yes", "no"]), r"such as X\[\[.*; .* 'text_b', 'label'"),
        (FRAME.itertuples(), "not a Pandas of 3; leave out all keys but two of 'Index', 'text_a'"),
        (FRAME.to_records(), "not a record of 3; leave out all keys but two of 'index', 'text_a'"),
        (P[0], r"not two strings; a single pair goes into a list, as \[\(first, second\)\]"),
        (Pair(*P[0]), "a single pair goes into a list"),
        (RECORDS[0], "a single pair goes into a list"),
        (FRAME.iloc[0], "a single pair goes into a list"),
        ([("a", "b"), ("a", "b\ud800")], "pair 1: the second sentence has the lone surrogate"),
    ],
    # The order of a set differs between processes.
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_pair_of_sentences_is_refused(pairs, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        checked_pairs(pairs)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("targets", "numeric", "message"),
    [
        (pandas.DataFrame({"a": [1], "b": [2]}), False, "not DataFrame; take one column"),
        ({"a", "b"}, False, "a list of labels, not set, which has no order"),
        (numpy.array("ab"), False, "a list of labels, not ndarray"),
        (numpy.array([[1], [0]]), False, r"not of ndarrays; ravel\(\) makes a list"),
        (["a", "a\0"], False, "the label of pair 1 .* null character, and cannot be saved"),
        (["a\ud800", "b"], False, "the label of pair 0 .* cannot be saved"),
        ([1.0, 10**400], True, "the score of pair 1 is too large a number"),
        ([1, -(10**5000)], False, "the label of pair 1 is too large a number"),
        ([1.0, pandas.NA], True, "the score of pair 1 must be a number, not NAType"),
        (None, True, "expected a list of scores, not NoneType"),
        (["a"] * 3, False, "there are 2 pairs and 3 labels"),
        (["a", 1], False, "some labels are strings and others are numbers"),
        ([10**30, 1], False, "numbers are too large to be told apart; make all strings"),
        ([2**53 + 1, 0.5], False, "numbers are too large to be told apart; make all strings"),
        ([1, numpy.nan], False, "the label of pair 1 is nan; leave the pair"),
        ([b"x"] * 2, False, "the label of pair 0 must be a string or a number, not bytes"),
        (numpy.ma.array([1, 1], mask=[0, 1]), False, "the label of pair 1 must .* not Masked"),
        (numpy.ma.array([1.0, 1], mask=[1, 0]), True, "the score of pair 0 must .* not Masked"),
        (numpy.ma.array(["a", "b"], mask=[1, 0]), False, "the label of pair 0 must .* not Masked"),
        (numpy.array(["2026-01-01"] * 2, "M8[ns]"), False, "of pair 0 must .* not datetime64"),
        (numpy.array([1, 2], "m8[ns]"), True, "the score of pair 0 must .* not timedelta64"),
        ([0.5, numpy.inf], True, "the score of pair 1 is inf"),
        (["a", "b"], True, "the score of pair 0 must be a number, not str"),
    ],
)
def test_bad_targets_are_refused(targets, numeric, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        checked_targets(targets, 2, numeric)
    assert "\n" not in str(error.value)


class Label(str, Enum):
    SAME = "same"


def test_numpy_s_numbers_tensors_and_enums_are_targets():
    assert checked_targets([numpy.int64(3), 1], 2, False).tolist() == [3, 1]
    assert checked_targets(torch.tensor([3, 1]), 2, False).tolist() == [3, 1]
    assert checked_targets([Label.SAME, "x"], 2, False).tolist() == ["same", "x"]
    assert checked_targets(list(numpy.float32([0.5, 2])), 2, True).tolist() == [0.5, 2]
    assert checked_targets(numpy.array(["a", "b"]), 2, False).tolist() == ["a", "b"]


def test_a_classifier_reads_records_as_pairs():
    records = [{"text_a": first, "text_b": second} for first, second in PAIRS]
    of_pairs = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS)
    of_records = PairClassifier(tiny_encoder(), l2=0.1).fit(records, LABELS)
    expected = of_pairs.predict_proba(PAIRS)
    numpy.testing.assert_allclose(of_pairs.predict_proba(records), expected, atol=1e-6)
    numpy.testing.assert_allclose(of_records.predict_proba(PAIRS), expected, atol=1e-6)
    numpy.testing.assert_allclose(of_records.predict_proba(records), expected, atol=1e-6)
    assert of_records.explain(records[1]) == of_records.explain(PAIRS[1])


FORMS = [
    list,
    tuple,
    iter,
    deque,
    UserList,
    enumerate,
    reversed,
    lambda x: (y for y in x),
    len,
    lambda x: set(map(str, x)),
    lambda x: frozenset(map(str, x)),
    lambda x: Counter(map(str, x)),
    lambda x: dict(enumerate(x)),
    lambda x: dict(enumerate(x)).values(),
    lambda x: {"a": x},
    lambda x: MappingProxyType(dict(enumerate(x))),
    lambda x: SimpleNamespace(texts=x),
    lambda x: pandas.Series(x, dtype=object),
    lambda x: pandas.DataFrame({"a": x, "b": x}),
    lambda x: pandas.DataFrame([x]),
    lambda x: pandas.Categorical(list(map(str, x))),
    lambda x: pandas.array(list(map(str, x)), dtype="string"),
    lambda x: x[0] if x else None,
    lambda x: numpy.array([*x, None], dtype=object)[:-1],
    lambda x: numpy.array(repr(x)),
    lambda x: numpy.array([list(map(str, x))] * 2),
    lambda x: numpy.full((len(x), 16), 0.5),
    lambda x: torch.zeros(len(x), 16),
    lambda x: torch.tensor(2.0),
    lambda x: type(x),
    range,
    lambda x: repr(x).encode(),
    lambda x: memoryview(b"ab"),
    lambda x: [{"a": y} for y in x],
    lambda x: [dict.fromkeys("ab", y) for y in x],
    lambda x: [set(map(str, x))],
    Path,
]
"""Conversions of a list of elements: to lists, columns, tables, mappings, numbers and others."""


@st.composite
def arguments(draw):
    kinds = [st.sampled_from(["a cat", "a dog runs", "not"]), texts, values]
    kinds += [st.sampled_from([pandas.NA, pandas.NaT, numpy.nan, None, numpy.str_("a"), b"a"])]
    element = st.one_of(*kinds, st.tuples(*kinds[:2]), st.just(Fraction(1, 2)))
    elements = draw(st.one_of(st.lists(kind, max_size=4) for kind in [*kinds, element]))
    form = draw(st.sampled_from(FORMS))
    try:
        return form(elements)
    except (TypeError, ValueError, OverflowError, UnicodeError):  # no object of this form
        return elements


def entry_points():
    network = tiny_encoder()
    encoder = SentenceEncoder(network)
    classifier = PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS)
    regressor = PairRegressor(encoder, l2=0.1).fit(PAIRS, SCORES)
    unfitted = PairClassifier(encoder, l2=0.1)
    return [
        network.encode,
        encoder.encode,
        lambda x: encoder.similarity(x, x),
        lambda x: encoder.similarity(x, ["a cat", "a dog"]),
        lambda x: encoder.search(x, ["a"]),
        lambda x: encoder.search("a", x),
        lambda x: encoder.search("a", ["a"], k=x),
        lambda x: encoder.search("a", ["a cat", "not"], vectors=x),
        classifier.predict,
        classifier.predict_proba,
        classifier.explain,
        regressor.predict,
        lambda x: classifier.score(x, ["same"] * 2),
        lambda x: regressor.score(PAIRS[:3], x),
        lambda x: unfitted.fit(x, ["a", "b"]),
        lambda x: unfitted.fit(PAIRS[:2], x),
        lambda x: PairRegressor(encoder, l2=0.1).fit(PAIRS[:2], x),
    ]


PACKAGE = str(Path(allennlp_sentmatch.__file__).parent)
NAMED = ("sentence", "pair", "label", "score", "query", "k must", "vector", "encoder", "batch_size")


@cases(120, 34_000)
def test_any_argument_gives_a_value_or_a_named_error(num_cases):
    calls = entry_points()

    def check(case):
        number, argument = case
        try:
            calls[number](argument)
        except (TypeError, ValueError) as error:
            check_refusal(error, "", 20_000)  # a label may be shown in full
            places = [place for place, _ in traceback.walk_tb(error.__traceback__)]
            is_own = places[-1].f_code.co_filename.startswith(PACKAGE)
            if not is_own or "\n" in str(error) or not any(name in str(error) for name in NAMED):
                raise

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_cases(check, st.tuples(st.integers(0, len(calls) - 1), arguments()), num_cases)
