"""Lines of JSON are objects, or the line is named."""

import pytest

from allennlp_sentmatch.files.json_lines import json_rows, parse_json_object


def test_objects(write):
    path = write('{"a": 1, "b": "x"}\n\n{"a": null}\n')
    assert [(row.source.line, row.values) for row in json_rows(path)] == [
        (1, {"a": 1, "b": "x"}),
        (3, {"a": None}),
    ]
    assert parse_json_object('{"a": %s}' % ("7" * 4300)) == {"a": int("7" * 4300)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A man sleeps.", r"not valid JSON \(Expecting value.*: A man sleeps\."),
        ('"A man sleeps."', 'expected a JSON object.* got "A man sleeps."'),
        ("[" * 2000 + "]" * 2000, ".*nested too deeply"),
        ('{"a":' * 100_000, ".*nested too deeply"),
        ('{"a": %s}' % ("7" * 5000), r"not valid JSON .*\(4300"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "not valid JSON .the key 'c' occurs twice"),
        ('{"\\ud800": 1, "\\ud800": 2}', r".*the key '\\ud800' occurs twice"),
        ("[", "not valid JSON .*jq -c"),
        ('[{"a": 1}]', "expected a JSON object.*jq -c"),
        *((line, "((?!array).)*JSON((?!array).)*$") for line in ('{"a": 1', "null", "two", "~")),
    ],
)
def test_json_that_only_seems_right(write, line, message):
    with pytest.raises(ValueError, match=r"data\.txt, line 2: " + message) as error:
        list(json_rows(write('{"a": 1}\n' + line + "\n")))
    assert len(str(error.value)) < 500
    with pytest.raises(ValueError, match="^input line: " + message):
        parse_json_object(line)
