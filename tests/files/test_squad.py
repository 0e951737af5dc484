"""Files in SQuAD's format give their questions and answers; another form is named."""

import gzip
import json

import pytest

from allennlp_sentmatch.files.squad import squad_rows

CONTEXT = "The line opened in 1872."


def document(**question):
    return {
        "data": [{"paragraphs": [{"context": CONTEXT, "qas": [{"question": "q", **question}]}]}]
    }


def rows_of(write, content):
    text = content if isinstance(content, str) else json.dumps(content)
    return list(squad_rows(write(gzip.compress(text.encode()), "squad.json")))


def test_rows(fixtures):
    rows = list(squad_rows(fixtures / "data" / "squad.json"))
    assert [row.values["id"] for row in rows] == ["r1", "r2", "r3", "r4", "s1", "s2"]
    first = rows[0].values
    assert first["question"] == "When did the line open?"
    assert first["answers"] == ["1872", "1872-73"]
    assert first["context"][first["answer_start"] :].startswith("1872-73 and")
    assert rows[4].values["context"].startswith("Salt was")
    assert rows[5].source.part == "data[1].paragraphs[0].qas[1]"


def test_a_question_without_answers_and_one_without_an_offset(write):
    (row,) = rows_of(write, document())
    assert row.values == {"id": None, "question": "q", "context": CONTEXT}
    (row,) = rows_of(write, document(id=3, answers=[{"text": "1872"}]))
    assert row.values["answers"] == ["1872"]
    assert row.values["id"] == "3"
    assert row.values["answer_start"] is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "squad.json is empty"),
        ({"data": []}, "squad.json is empty"),
        ("{", "squad.json: not valid JSON .* expected a JSON document of SQuAD's form: {"),
        ("[]", r"squad.json: expected a JSON object, .*, got \[\]$"),  # not a hint for JSON lines
        ({}, "squad.json: there is no column 'data'"),
        ({"data": 3}, "squad.json: 'data' must be a list of objects, not 3"),
        ({"data": [3]}, r"squad.json, data\[0\]: expected an object, got 3"),
        ({"data": [{}, {}]}, r"squad.json, data\[0\]: there is no column 'paragraphs'"),
        ({"data": [{"paragraphs": [{}]}]}, r"paragraphs\[0\]: there is no column 'context'"),
        (document(question=3), r"paragraphs\[0\].qas\[0\]: column 'question' must be a string"),
        (document(answers=[]), r"qas\[0\]: there is no answer; .* SQuAD 2.0"),
        (document(answers=[{}]), r"qas\[0\].answers\[0\]: there is no column 'text'"),
        *(
            (
                document(answers=[{"text": "1872", "answer_start": start}]),
                r"answers\[0\]: the context does not have the text '1872' at the offset",
            )
            for start in (18, 20, -5, 19.0, True, "19", 10**6)
        ),
    ],
)
def test_another_form_is_an_error(write, content, message):
    with pytest.raises(ValueError, match=message):
        rows_of(write, content)
