"""What the tests evaluate without Jsonnet is what Jsonnet gives."""

import json

import _jsonnet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plain_json import evaluated, file_evaluator

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text("abcé\n\"\\'", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab_"), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=20, deadline=None)
@given(values)
def test_json_has_the_value_that_jsonnet_gives_it(value):
    text = json.dumps(value)
    found = evaluated(text)
    if found is not None:
        expected = json.loads(_jsonnet.evaluate_snippet("", text))
        assert json.dumps(json.loads(found)) == json.dumps(expected)


@pytest.mark.parametrize(
    "text",
    ["", "{a: 1}", "{'a': 1}", '{"a": 1, "a": 2}', "NaN", "1e999", f"{2**53 + 1}", "[" * 100_000],
)
def test_the_rest_is_left_to_jsonnet(text):
    assert evaluated(text) is None


def test_a_file_is_read_again_if_it_is_not_one_of_the_repository(tmp_path):
    calls = []

    def evaluate_file(path, ext_vars=None):
        calls.append(path)
        return "null"

    evaluate = file_evaluator(evaluate_file)
    (tmp_path / "config.json").write_text('{"b": 1.0, "a": [0.5]}')
    assert evaluate(str(tmp_path / "config.json")) == '{"a": [0.5], "b": 1}'
    (tmp_path / "config.json").write_text("{a: 1}")
    assert evaluate(str(tmp_path / "config.json")) == "null"
    for variables in ({}, {}, {"a": "b"}):
        evaluate("training_config/quick_start.jsonnet", ext_vars=variables)
    assert calls == [str(tmp_path / "config.json"), *["training_config/quick_start.jsonnet"] * 2]
