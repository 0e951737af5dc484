"""Properties of all readers of formats: columns, folds, workers and encodings of a table."""

import gzip
import json
import pickle

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.dataset_readers import WorkerInfo

import allennlp_sentmatch  # noqa: F401  (registers the readers)

ROWS = [
    {"no": "1", "x": 'say "é"', "y": "b, c 1", "z": "1"},
    {"no": "2", "x": "d", "y": "e 0", "z": "0"},
    {"no": "3", "x": "f", "y": "g 1", "z": "1"},
]

# By reader, the setting for each column; and the values, in its order, of an instance.
READERS = {
    "sentence_pair": {"sentence1": "x", "sentence2": "y", "label": "z", "id": "no"},
    "single_sentence": {"text": "x", "label": "z", "id": "no"},
    "answer_selection": {"question": "x", "candidate": "y", "label": "z", "question_id": "no"},
    "reading_comprehension": {"question": "x", "passage": "y", "answers": "z", "id": "no"},
}
LABELS = {"reading_comprehension": "answers"}
every_reader = pytest.mark.parametrize("kind", READERS)


def make(kind, **settings):
    settings = {"type": kind, "format": "table", **READERS[kind], **settings}
    return DatasetReader.from_params(Params(settings))


def values(instance):
    """The texts, label and id of an instance, in the order of a row's columns."""
    about = instance["metadata"].metadata
    found = [about.get("id")]
    keys = ("premise", "hypothesis", "text", "question", "passage")
    found += [about[key] for key in keys if key in about]
    found += about.get("candidates", [])
    if "label" in instance.fields:
        found.append(instance["label"].label)
    if "labels" in instance.fields:
        found += map(str, instance["labels"].tensor.tolist())
    return found + about.get("answers", [])


def expected(kind, rows=ROWS):
    used = READERS[kind].values()
    return [[row[column] for column in row if column in used] for row in rows]


def as_table(delimiter, quote=str):
    lines = [ROWS[0].keys(), *(row.values() for row in ROWS)]
    return "".join(delimiter.join(map(quote, line)) + "\n" for line in lines)


FILES = {
    "tsv": as_table("\t"),
    "csv": as_table(",", lambda cell: '"' + cell.replace('"', '""') + '"'),
    "jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
}


@every_reader
@pytest.mark.parametrize("name", FILES)
def test_columns_by_name(tmp_path, kind, name):
    path = tmp_path / "data.txt"  # the content, not the name, says what it is
    path.write_text(FILES[name], encoding="utf-8")
    assert list(map(values, make(kind).read(path))) == expected(kind)


@every_reader
def test_columns_by_position_in_a_compressed_file_of_another_encoding(tmp_path, kind):
    path = tmp_path / "data"
    text = "".join("||".join(row.values()) + "\n" for row in ROWS)
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    positions = {name: list(ROWS[0]).index(column) for name, column in READERS[kind].items()}
    reader = make(kind, delimiter="||", encoding="latin-1", **positions)
    assert list(map(values, reader.read(path))) == expected(kind)


@every_reader
def test_without_labels(tmp_path, kind):
    path = tmp_path / "data.tsv"
    path.write_text(FILES["tsv"], encoding="utf-8")
    instances = make(kind, **{LABELS.get(kind, "label"): None}).read(path)
    assert list(map(values, instances)) == [row[:-1] for row in expected(kind)]


@every_reader
def test_folds_workers_and_a_largest_number(tmp_path, kind):
    path = tmp_path / "data.tsv"
    path.write_text(FILES["tsv"], encoding="utf-8")
    folds = {"path": str(path), "folds": {"number": 3, "drop": [1]}}
    assert list(map(values, make(kind).read(folds))) == expected(kind, ROWS[::2])
    assert list(map(values, make(kind, max_instances=2).read(path))) == expected(kind, ROWS[:2])
    shares = []
    for worker in range(2):
        reader = pickle.loads(pickle.dumps(make(kind)))
        reader._set_worker_info(WorkerInfo(num_workers=2, id=worker))
        shares.append(list(map(values, reader.read(path))))
    assert shares == [expected(kind, ROWS[worker::2]) for worker in range(2)]


@every_reader
def test_a_missing_column_names_its_setting_and_those_there_are(tmp_path, kind):
    path = tmp_path / "data.tsv"
    path.write_text(FILES["tsv"], encoding="utf-8")
    for setting in READERS[kind]:
        message = rf"data\.tsv, line 2: there is no column 'q'; .* 'no', 'x', .* '{setting}'"
        with pytest.raises(ConfigurationError, match=message):
            list(make(kind, **{setting: "q"}).read(path))


@every_reader
def test_all_rows_have_a_label_or_none(tmp_path, kind):
    path = tmp_path / "data.jsonl"
    for labels, message in ((("1", None), "no .*, but line 1 has one"), ((None, "1"), "has none")):
        rows = [{**ROWS[0], "z": label} for label in labels]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with pytest.raises(ConfigurationError, match=rf"data\.jsonl, line 2: .*{message}"):
            list(make(kind).read(path))


@every_reader
def test_impossible_settings(kind):
    for settings, message in (
        ({"format": "nothing"}, "format='nothing': expected one of .*, table"),
        ({"encoding": "hex"}, "encoding='hex'"),
        ({"max_length": 0}, "max_length=0: expected at least 1"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            make(kind, **settings)


@pytest.mark.parametrize(
    ("settings", "ignored"),
    [
        ({"type": "sentence_pair", "format": "snli", "sentence1": "a"}, "sentence1"),
        (
            {"type": "sentence_pair", "format": "snli", "label": None, "quoted": True},
            "label, quoted",
        ),
        ({"type": "sentence_pair", "format": "sts", "score_range": [0, 4]}, "score_range"),
        ({"type": "single_sentence", "format": "trec", "delimiter": ";"}, "delimiter"),
        ({"type": "answer_selection", "format": "wikiqa", "candidate": "a"}, "candidate"),
        ({"type": "reading_comprehension", "format": "squad", "answers": "a"}, "answers"),
    ],
)
def test_settings_of_a_table_are_refused_in_other_formats(settings, ignored):
    message = f"^format='{settings['format']}' does not use {ignored}, which only format='table'"
    with pytest.raises(ConfigurationError, match=message):
        DatasetReader.from_params(Params(settings))


def test_the_granularity_is_that_of_trec():
    with pytest.raises(ConfigurationError, match=r"does not use granularity, .* format='trec' has"):
        make("single_sentence", granularity="fine")
