"""Published formats give the spans, targets and offsets of their answers."""

import json
import logging
import re
from collections import Counter
from copy import deepcopy

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader

from allennlp_sentmatch.data.dataset_readers import ReadingComprehensionReader

PASSAGE = "The line, opened in 1872-73,\nwas 41.5km long."


def make(format="table", **settings):
    return DatasetReader.from_params(
        Params({"type": "reading_comprehension", "format": format, **deepcopy(settings)})
    )


def metadata(instance):
    return instance["metadata"].metadata


def target(instance):
    """The text of an instance's span."""
    about = metadata(instance)
    start, end = (instance[name].sequence_index for name in ("span_start", "span_end"))
    offsets = about["passage_offsets"]
    return about["passage"][offsets[start][0] : offsets[end][1]]


def narrativeqa(fixtures, chosen):
    folder = fixtures / "data" / "narrativeqa"
    names = ("questions", "qaps.csv"), ("summaries", "summaries.csv")
    return {**{name: str(folder / file) for name, file in names}, "set": chosen}


FOX = ["under the old mill", "one egg", "she fell asleep by the door", "seven years"]
FOX += ["a copper ring", "gave her a house", "The"]  # no word of the last answer is in the passage


@pytest.mark.parametrize(
    ("format", "file", "expected", "answers", "id"),
    [
        # "41.5" is a separate token; a part of a token is widened to the whole token.
        (
            "squad",
            "squad.json",
            ["1872", "41.5", "a library", "Karn", "Salt", "1920s"],
            ["1872", "1872-73"],
            "r1",
        ),
        ("fairytaleqa", "fairytaleqa.jsonl", FOX, ["under the old mill"], "fox:1"),
        (
            "narrativeqa",
            "train",
            ["under the old mill", "her left shoe", "a copper ring"],
            ["Under the old mill.", "under a mill"],
            None,
        ),
        ("narrativeqa", "valid", ["grey widow"], ['The "grey" widow', "a widow"], None),
    ],
)
def test_published_formats(fixtures, format, file, expected, answers, id):
    path = fixtures / "data" / file if "." in file else narrativeqa(fixtures, file)
    instances = list(make(format).read(path))
    assert list(map(target, instances)) == expected
    about = metadata(instances[0])
    assert about.get("id") == id
    assert about["answers"] == answers


def test_the_given_one_of_two_occurrences(fixtures):
    *_, instance, _, _ = make("squad").read(fixtures / "data" / "squad.json")
    passage = metadata(instance)["passage_tokens"]
    assert passage.count("Karn") == 2
    assert instance["span_start"].sequence_index > passage.index("1964")


def test_fields():
    instance = make().text_to_instance("How long?", PASSAGE, ["41.5km", "long"], "q1")
    assert list(instance.fields) == [
        "question",
        "passage",
        "span_start",
        "span_end",
        "metadata",
    ]
    about = metadata(instance)
    assert about["question_tokens"] == ["How", "long", "?"]
    tokens = [token.text for token in instance["passage"].tokens]
    assert about["passage_tokens"] == tokens
    assert [PASSAGE[start:end] for start, end in about["passage_offsets"]] == tokens
    assert about["question"] == "How long?"
    assert about["passage"] == PASSAGE
    assert about["id"] == "q1"
    assert about["answers"] == ["41.5km", "long"]
    assert target(instance) == "41.5km"


def test_questions_about_one_passage_share_its_field(fixtures):
    instances = list(make("fairytaleqa").read(fixtures / "data" / "fairytaleqa.jsonl"))
    numbers = [len({id(i["passage"]) for i in part}) for part in (instances[:3], instances)]
    assert numbers == [1, 2]


@pytest.mark.parametrize("passage", ["", " \n"])
def test_a_passage_without_a_token(passage):
    instance = make().text_to_instance("Who?", passage, ["a fox"])
    assert metadata(instance)["passage_offsets"] == [(0, 0)]
    assert len(instance["passage"]) == 1
    assert target(instance) == ""


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        # The first answer that occurs word for word
        (["It opened", "41.5km long", "1872-73"], "41.5km long"),
        (["1872-73, was"], "1872-73,\nwas"),
        # Otherwise the best overlap
        (["It opened in March 1872."], "opened in 1872"),
    ],
)
def test_targets_without_offsets(answers, expected):
    assert target(make().text_to_instance("?", PASSAGE, answers)) == expected


def test_left_out_questions_are_not_counted_as_read(write):
    rows = [{"question": "?", "passage": PASSAGE, "answers": [x]} for x in ("zzz", "The line")]
    path = write("".join(json.dumps(row) + "\n" for row in rows))
    (instance,) = make(min_overlap=0.5, max_instances=1).read(str(path))
    assert target(instance) == "The line"


def test_log_and_left_out_questions(fixtures, caplog):
    path = str(fixtures / "data" / "fairytaleqa.jsonl")
    with caplog.at_level(logging.INFO):
        for min_overlap, number in ((0, 7), (0.6, 6), (0.601, 5)):
            assert len(list(make("fairytaleqa", min_overlap=min_overlap).read(path))) == number
    # F1 of three targets: 1 (another case), 2 * 3 / (4 + 6) and 0.
    assert (
        f"{path}: 7 questions, 0 of them without answers; the target is the answer at its "
        "offset for 0, an answer that the passage has word for word for 4, the span with the "
        "best ROUGE-L F1 for 3 (mean F1 0.533, 1 share no word with their passage); 0 "
        "have a passage that was cut" in caplog.text
    )
    assert "left out 1 with an overlap below min_overlap=0.6" in caplog.text


def test_long_passages_are_cut_and_counted(fixtures, caplog):
    with caplog.at_level(logging.INFO):
        path = fixtures / "data" / "squad.json"
        instances = list(make("squad", max_passage_length=18).read(path))
    assert Counter(len(instance["passage"]) for instance in instances) == {18: 4, 17: 2}
    assert "4 have a passage that was cut" in caplog.text
    # "Karn" now occurs first elsewhere, and "a library" nowhere.
    assert list(map(target, instances[:4])) == ["1872", "41.5", "The", "Karn"]
    assert metadata(instances[0])["passage"].endswith("a library.")
    assert len(metadata(instances[0])["passage_offsets"]) == 18


def test_an_answer_that_is_cut_through(write):
    question = {"question": "?", "answers": [{"text": "two three", "answer_start": 4}]}
    paragraph = {"context": "one two three four", "qas": [question]}
    path = write(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    (instance,) = make("squad", max_passage_length=2).read(path)
    assert target(instance) == "two"


@pytest.mark.parametrize(
    "tokenizer",
    [
        {"type": "character", "start_tokens": ["@"]},
        {"type": "spacy_blank", "end_tokens": ["@end@"]},
    ],
)
@pytest.mark.parametrize("passage", [PASSAGE, "long"])
def test_tokenizers_without_offsets(tokenizer, passage):
    with pytest.raises(ConfigurationError, match=r"the tokenizer \w+ does not give the offset"):
        make(tokenizer=tokenizer).text_to_instance("How long?", passage)


@pytest.mark.parametrize(
    ("tokenizer", "answer"),
    [
        ("character", "老磨坊"),
        ("whitespace", "磨坊 下面。"),
    ],
)
def test_tokenizers_with_parts_of_the_text(tokenizer, answer):
    reader = make(tokenizer=tokenizer)
    instance = reader.text_to_instance("?", "狐狸 住在 老 磨坊  下面。", [answer])
    assert target(instance).replace(" ", "") == answer.replace(" ", "")


SUMMARIES = "document_id,set,summary\n77cd,train,The well.\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"set": "dev"}, r"qaps\.csv has no example of the set 'dev'; .*test.*train.*valid"),
        ({"sets": "train"}, "expected a data path such as"),
        (None, "expected a data path such as"),
        ({"summaries": SUMMARIES}, r"qaps\.csv, line 2: .*data\.txt has no summary"),
    ],
)
def test_a_narrativeqa_path_of_another_form(fixtures, write, change, message):
    path = {**narrativeqa(fixtures, "train"), **(change or {})}
    if "\n" in path["summaries"]:
        path["summaries"] = str(write(path["summaries"]))
    with pytest.raises(ConfigurationError, match=message):
        list(make("narrativeqa").read(path["questions"] if change is None else path))


@pytest.mark.parametrize(
    ("name", "number", "verbatim"),
    [pytest.param("train", 8548, 0.54, marks=pytest.mark.slow), ("val", 1025, 0.67)],
)
def test_offsets_in_all_of_fairytaleqa(shared_data, name, number, verbatim):
    """The published share of questions have their answer in the passage, up to case and
    punctuation.
    """
    path = shared_data / "fairytaleqa" / f"fairytaleqa.{name}.jsonl.gz"
    found = total = 0
    for instance in ReadingComprehensionReader("fairytaleqa").read(path):
        total += 1
        found += words(target(instance)) in map(words, metadata(instance)["answers"])
    assert total == number
    assert found / total == pytest.approx(verbatim, abs=0.005)


def words(text):
    """The words of a text in lower case, each between two spaces."""
    return " ".join(["", *re.findall(r"[^\W_]+", text.lower()), ""])
