"""Properties of all readers: columns, folds, workers, encodings, and the places of bad input.

Models predict on unusual instances in `tests/models/test_every_model.py`.
"""

import gzip
import json
import pickle
from copy import deepcopy

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers import WorkerInfo
from allennlp.data.tokenizers import PretrainedTransformerTokenizer
from hypothesis import strategies as st

import allennlp_sentmatch  # noqa: F401  (registers the readers)
from allennlp_sentmatch.data.dataset_readers import (
    AnswerSelectionReader,
    ParallelTextReader,
    ReadingComprehensionReader,
    SentencePairReader,
    SentimentTreesReader,
    SingleSentenceReader,
)
from tests import fuzzing
from tests.conftest import REPOSITORY

ROWS = [
    {"no": "1", "x": 'say "é"', "y": "b, c 1", "z": "1"},
    {"no": "2", "x": "d", "y": "e 0", "z": "0"},
    {"no": "3", "x": "f", "y": "g 1", "z": "1"},
]

# For each reader, the settings of the columns, and an instance's values in this order.
READERS = {
    "sentence_pair": {
        "sentence1": "x",
        "sentence2": "y",
        "label": "z",
        "id": "no",
    },
    "single_sentence": {
        "text": "x",
        "label": "z",
        "id": "no",
    },
    "answer_selection": {
        "question": "x",
        "candidate": "y",
        "label": "z",
        "question_id": "no",
    },
    "reading_comprehension": {
        "question": "x",
        "passage": "y",
        "answers": "z",
        "id": "no",
    },
}
LABELS = {"reading_comprehension": "answers"}
"""The setting of the labels' column, if it is another one than `label`."""
every_reader = pytest.mark.parametrize("kind", READERS)


def make(kind, **settings):
    settings = {
        "type": kind,
        "format": "table",
        **READERS[kind],
        **settings,
    }
    return DatasetReader.from_params(Params(settings))


def values(instance):
    """Return the texts, label and id of an instance, in the order of a row's columns."""
    about = instance["metadata"].metadata
    found = [about.get("id")]
    for key in ("premise", "hypothesis", "text", "question", "passage"):
        if key in about:
            found.append(about[key])
    found += about.get("candidates", [])
    if "label" in instance.fields:
        found.append(instance["label"].label)
    if "labels" in instance.fields:
        found += [str(label) for label in instance["labels"].tensor.tolist()]
    return found + about.get("answers", [])


def values_of_file(reader, path):
    return [values(instance) for instance in reader.read(path)]


def expected(kind, rows=ROWS):
    used = READERS[kind].values()
    return [[row[column] for column in row if column in used] for row in rows]


def in_quotes(cell):
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


def as_table(rows, delimiter, quote=str):
    lines = [delimiter.join(quote(cell) for cell in row) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def as_json(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


LINES = [list(row.values()) for row in ROWS]


HEADER = list(ROWS[0])


FILES = {
    "tsv": as_table([HEADER, *LINES], "\t"),
    "csv": as_table([HEADER, *LINES], ",", in_quotes),
    "jsonl": as_json(ROWS),
}


@every_reader
@pytest.mark.parametrize("format", FILES)
def test_columns_by_name(write, kind, format):
    path = write(FILES[format])  # the content, not the name, decides
    assert values_of_file(make(kind), path) == expected(kind)
    no_label = {LABELS.get(kind, "label"): None}
    without_labels = [row[:-1] for row in expected(kind)]
    assert values_of_file(make(kind, **no_label), path) == without_labels


@every_reader
def test_columns_by_position_in_a_compressed_file_of_another_encoding(write, kind):
    text = as_table(LINES, "||")
    path = write(gzip.compress(text.encode("latin-1")))
    positions = {name: HEADER.index(column) for name, column in READERS[kind].items()}
    reader = make(kind, delimiter="||", encoding="latin-1", **positions)
    assert values_of_file(reader, path) == expected(kind)


@every_reader
def test_folds(write, kind):
    path = write(FILES["tsv"])
    folds = {"path": str(path), "folds": {"number": 3, "drop": [1]}}
    for data_path in (folds, json.dumps(folds)):
        assert values_of_file(make(kind), data_path) == expected(kind, ROWS[::2])


@every_reader
def test_a_largest_number(write, kind):
    reader = make(kind, max_instances=2)
    assert values_of_file(reader, write(FILES["tsv"])) == expected(kind, ROWS[:2])


@every_reader
@pytest.mark.parametrize("worker", [0, 1])
def test_workers_read_their_share(write, kind, worker):
    reader = pickle.loads(pickle.dumps(make(kind)))
    reader._set_worker_info(WorkerInfo(num_workers=2, id=worker))
    assert values_of_file(reader, write(FILES["tsv"])) == expected(kind, ROWS[worker::2])


@every_reader
def test_a_missing_column_names_its_setting_and_those_there_are(write, kind):
    path = write(FILES["tsv"])
    for setting in READERS[kind]:
        message = rf"data\.txt, line 2: there is no column 'q'; .* 'no', 'x', .* '{setting}'"
        wrong = {setting: "q"}
        with pytest.raises(ConfigurationError, match=message):
            list(make(kind, **wrong).read(path))


@every_reader
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("1", None), "no .*, but line 1 has one"),
        ((None, "1"), "has none"),
    ],
)
def test_all_rows_have_a_label_or_none(write, kind, labels, message):
    path = write(as_json([{**ROWS[0], "z": label} for label in labels]))
    with pytest.raises(ConfigurationError, match=rf"data\.txt, line 2: .*{message}"):
        list(make(kind).read(path))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "nothing"}, "format must be one of .*, table; got 'nothing'"),
        ({"format": "table", "encoding": "hex"}, "encoding='hex'"),
        (
            {"format": "table", "max_length": 0},
            "max_length must be an integer of at least 1, or null; got 0",
        ),
        ({"format": "sts", "score_range": [0, 4]}, "^format='sts' does not use score_range, which"),
        ({"format": "snli", "label": None, "quoted": True}, "does not use label, quoted, which"),
        ({"format": "table", "granularity": "fine"}, "not use granularity, .* format='trec' has"),
        ({"type": "parallel_text", "size": 3, "lang": "de"}, "Reader has no setting lang, size; "),
    ],
)
def test_impossible_settings(settings, message):
    kind = "single_sentence" if "granularity" in settings else "sentence_pair"
    with pytest.raises(ConfigurationError, match=message):
        DatasetReader.from_params(Params({"type": kind, **settings}))


ANSWERS = AnswerSelectionReader("wikiqa")
PASSAGES = ReadingComprehensionReader("table")


@pytest.mark.parametrize(
    ("reader", "arguments", "message"),
    [
        (SentencePairReader("snli"), ("a", 5), "hypothesis must be a string, not 5"),
        (SentencePairReader("snli"), (None, "a"), "premise must be a string, not None"),
        (SingleSentenceReader("trec"), (["a"],), r"text must be a string, not \['a'\]"),
        (SentimentTreesReader(), (5,), "not 5"),
        (SentimentTreesReader(), (["a", None],), "not None"),
        (ANSWERS, (5, ["a"]), "question must be a string, not 5"),
        (ANSWERS, ("q", "a"), "candidates must be a list of at least one string, not 'a'"),
        (ANSWERS, ("q", []), r"candidates must be a list of at least one string, not \[\]"),
        (ANSWERS, ("q", ["a", None]), "each of the candidates must be a string, not None"),
        (ANSWERS, ("q", ["a", "b"], [1]), "1 labels for 2 candidates"),
        (ANSWERS, ("q", ["a", "b"], [1, 2]), r"labels must be 0 or 1, got \[1, 2\]"),
        (ANSWERS, ("q", ["a"], ["1"]), r"labels must be 0 or 1, got \['1'\]"),
        (PASSAGES, ("q", "a", "a"), "at least one str"),
        (PASSAGES, ("q", "a", []), "at least one str"),
        (PASSAGES, ("q", "a", [3]), "at least one str"),
        (PASSAGES, ("q", "a", str), "at least one str"),
    ],
)
def test_text_to_instance_names_the_field(reader, arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        reader.text_to_instance(*arguments)


# For some formats a reader, a header and a row.
SICK = "pair_ID\tsentence_A\tsentence_B\tentailment_judgment\n"
WIKIQA = "QuestionID\tQuestion\tSentenceID\tSentence\tLabel\n"
FORMATS = {
    "snli": ("sentence_pair", "", '{"sentence1": "a", "sentence2": "b", "gold_label": "YES"}\n'),
    "sick": ("sentence_pair", SICK, "1\ta\tb\tYES\n"),
    "scitail": ("sentence_pair", "", "a\tb\tYES\n"),
    "label_first": ("single_sentence", "", "YES\ta\n"),
    "trec": ("single_sentence", "", "YES:x a\n"),
    "wikiqa": ("answer_selection", WIKIQA, "Q1\ta\tS1\tb\t1\n"),
    "fairytaleqa": (
        "reading_comprehension",
        "",
        '{"question": "a", "context": "a", "answers": ["b"]}\n',
    ),
    "sentiment_trees": ("sentiment_trees", "", "(3 a)\n"),
}


def make_format(name):
    """Return a reader, a header and a row."""
    kind, header, row = FORMATS[name]
    settings = {"type": kind}
    if name != "sentiment_trees":
        settings["format"] = name
    return DatasetReader.from_params(Params(settings)), header, row


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_file_and_a_line_that_lacks_a_field(write, name):
    reader, header, row = make_format(name)
    for content in ("", "\n", header):
        with pytest.raises(ConfigurationError, match=r"data\.txt is empty"):
            list(reader.read(write(content)))
    with pytest.raises(ConfigurationError, match=r"data\.txt, line \d: .*(column|expected)"):
        list(reader.read(write(f"{header}{row}incomplete\n")))


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("wikiqa", "fairytaleqa")])
def test_a_label_never_seen(write, name):
    reader, header, row = make_format(name)
    *_, instance = reader.read(write(header + 2 * row))
    last_line = 3 if header else 2
    label = instance["label"].label
    message = rf"data\.txt, line {last_line}: the label {label!r} is"
    with pytest.raises(ConfigurationError, match=message):
        instance.index_fields(Vocabulary())


def snli(labels):
    return "".join(FORMATS["snli"][2].replace("YES", label) for label in labels)


@pytest.fixture
def vocab(write):
    path = write(snli("abba"), "abba.txt")
    return Vocabulary.from_instances(list(SentencePairReader("snli").read(path)))


def labels_from_workers(path, vocab, in_memory):
    """Return the labels of a file that two processes read, each pair in both orders."""
    loader = MultiProcessDataLoader(
        SentencePairReader("snli", swap_pairs=True),
        str(path),
        batch_size=2,
        num_workers=2,
        max_instances_in_memory=in_memory,
        quiet=True,
    )
    loader.index_with(vocab)
    return [label for batch in loader for label in batch["label"].tolist()]


@pytest.mark.parametrize("in_memory", [None, 2])
def test_labels_from_workers(write, vocab, in_memory):
    """The main process indexes the workers' instances; workers do so if not all are kept."""
    path = write(snli("abba"))
    assert sorted(labels_from_workers(path, vocab, in_memory)) == [0] * 4 + [1] * 4


@pytest.mark.parametrize("in_memory", [None, 2])
def test_a_label_never_seen_from_workers(write, vocab, in_memory):
    path = write(snli("aaac"), "aaac.txt")
    with pytest.raises(Exception, match=r"aaac\.txt, line 4: the label 'c' does not occur"):
        labels_from_workers(path, vocab, in_memory)


POSITIONS = {"sentence1": 0, "sentence2": 1, "label": 2}
IDS = {"question_id": "id", "candidate_id": "candidate_id"}

# Each with a valid file.
FUZZED_READERS = [
    (SentencePairReader("snli"), "snli.jsonl"),
    (SentencePairReader("multinli"), "multinli.jsonl"),
    (SentencePairReader("sick"), "sick.txt"),
    (SentencePairReader("quora"), "quora_release.tsv"),
    (SentencePairReader("quora"), "quora_kaggle.csv"),
    (SentencePairReader("quora", swap_pairs=True), "quora_wang.tsv"),
    (SentencePairReader("msrp"), "msrp.txt"),
    (SentencePairReader("scitail"), "scitail.tsv"),
    (SentencePairReader("scitail"), "scitail_snli_format.txt"),
    (SentencePairReader("sts"), "sts.csv"),
    (SentencePairReader("table", id="id"), "snli.jsonl"),
    (SentencePairReader("table", **POSITIONS), "scitail.tsv"),
    (SentencePairReader("table", delimiter=";", max_length=3), "quora_kaggle.csv"),
    (SentencePairReader("table", label=None, delimiter="||"), "snli.jsonl"),
    (SingleSentenceReader("trec"), "trec.label"),
    (SingleSentenceReader("label_first"), "reviews.task.train"),
    (SingleSentenceReader("two_files"), "polarity/snippets.pos"),
    (SingleSentenceReader("table", text="sentence1"), "snli.jsonl"),
    (SingleSentenceReader("table", text=0, label=None), "trec.label"),
    (SentimentTreesReader(), "sentiment_trees.txt"),
    (SentimentTreesReader("2-class", use_subtrees=True), "sentiment_trees.txt"),
    (AnswerSelectionReader("wikiqa"), "wikiqa.tsv"),
    (AnswerSelectionReader("trecqa"), "trecqa.csv"),
    (AnswerSelectionReader("table", **IDS), "wikiqa.tsv"),
    (ReadingComprehensionReader("squad"), "squad.json"),
    (ReadingComprehensionReader("fairytaleqa", max_passage_length=9), "fairytaleqa.jsonl"),
    (ReadingComprehensionReader("narrativeqa"), "narrativeqa/qaps.csv"),
    (ReadingComprehensionReader("table", passage="context", id="id"), "fairytaleqa.jsonl"),
    (ReadingComprehensionReader("table", passage="context", answers=None), "fairytaleqa.jsonl"),
    (ParallelTextReader(), "parallel.de"),
    (ParallelTextReader(max_length=3), "scitail_dgem.tsv"),
]

KEYS = ["sentence1", "sentence2", "premise", "hypothesis", "gold_label", "label", "pairID", "id"]
KEYS += ["text", "question", "candidate", "candidate_id", "context", "answers"]

json_objects = st.dictionaries(st.sampled_from(KEYS), fuzzing.texts | fuzzing.values)
drawn_lines = st.lists(json_objects.map(json.dumps) | fuzzing.texts, max_size=5).map("\n".join)


@st.composite
def tables(draw):
    """A header, and rows that mostly have as many cells."""
    delimiter = draw(st.sampled_from(["\t", ",", ";", "||"]))
    header = draw(st.lists(st.sampled_from([*KEYS, ""]), max_size=5))
    cells = st.lists(fuzzing.texts, min_size=len(header), max_size=len(header))
    rows = draw(st.lists(st.one_of(cells, st.lists(fuzzing.texts)), max_size=4))
    return "\n".join(delimiter.join(row) for row in [header, *rows])


@st.composite
def broken_files(draw):
    """Return a reader, the name of a valid file for it, and the content of a broken one."""
    reader, file = draw(st.sampled_from(FUZZED_READERS))
    valid = (REPOSITORY / "fixtures" / "data" / file).read_bytes()
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]))
    texts = st.one_of(drawn_lines, tables())
    encoded_texts = texts.map(lambda text: text.encode(encoding, "surrogatepass"))
    content = draw(st.one_of(fuzzing.changed_bytes(valid), encoded_texts))
    if draw(st.integers(0, 9)) == 0:
        content = gzip.compress(content)
        content = content[: draw(st.integers(0, len(content)))]
    return reader, file, content


SUMMARIES = str(REPOSITORY / "fixtures/data/narrativeqa/summaries.csv")


def data_path_of(file, path):
    """Return the path of a reader's data, which consists of several files for some readers."""
    if file == "polarity/snippets.pos":
        return {"pos": str(path)}
    if file == "narrativeqa/qaps.csv":
        return {
            "questions": str(path),
            "summaries": SUMMARIES,
            "set": "train",
        }
    return path


def check_instances(reader, instances):
    """They become a batch, and their words can be written."""
    assert instances
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances(instances)
    for namespace in vocab.get_namespaces():
        for word in vocab.get_token_to_index_vocabulary(namespace):
            word.encode()
    batch = Batch(instances)
    batch.index_instances(vocab)
    tensors = batch.as_tensor_dict()
    json.dumps(tensors.get("metadata"), ensure_ascii=False).encode()


@fuzzing.cases(100, 8000)
def test_readers(tmp_path, num_cases):
    path = tmp_path / "broken.txt"

    def check(case):
        reader, file, content = case
        path.write_bytes(content)
        try:
            instances = list(reader.read(data_path_of(file, path)))
        except ConfigurationError as error:
            fuzzing.check_refusal(error, str(path))
            return
        check_instances(reader, instances)

    fuzzing.check_cases(check, broken_files(), num_cases)


@pytest.mark.parametrize(("text", "num_messages"), [("a b c", 0), ("a b c d", 1)])
def test_the_log_says_that_a_transformer_cuts_texts(tiny_bert, caplog, text, num_messages):
    tokenizer = PretrainedTransformerTokenizer(tiny_bert, max_length=5)
    SingleSentenceReader("table", tokenizer=tokenizer).text_to_instance(text)
    assert len(caplog.messages) == num_messages
    for message in caplog.messages:
        assert "is cut after 5 tokens" in message


UNSPACED = [
    "狐狸住在老磨坊下面。",
    "男性が道路でスケートボードをしています。",
    "สุนัขจิ้งจอกอยู่ใต้โรงสีเก่า",
    "ໝາປ່າຢູ່ໃຕ້ໂຮງສີເກົ່າ",
]
SPACED = [
    "лиса живёт здесь",
    "방앗간 아래 여우",
    "पुरानी चक्की",
    "fox",
    "狐狸 住 在 老 磨坊 下面 。",
]


MIXED = ["今天天气好", "лиса живёт здесь", "他在这里吗？"]


CHINESE = {"type": "spacy_blank", "language": "zh"}


@pytest.mark.parametrize(
    ("texts", "tokenizer", "share"),
    [
        (UNSPACED, "spacy_blank", "100%"),
        (UNSPACED, "whitespace", "100%"),
        (UNSPACED, "character", None),
        (UNSPACED[:1], CHINESE, None),
        (SPACED, "spacy_blank", None),
        (SPACED + UNSPACED, "spacy_blank", None),
        (MIXED, "spacy_blank", "67%"),
    ],
)
def test_texts_without_spaces_are_noticed_once(write, caplog, texts, tokenizer, share):
    reader = make("sentence_pair", tokenizer=deepcopy(tokenizer))
    rows = [{"no": str(no), "x": text, "y": text, "z": "1"} for no, text in enumerate(texts)]
    path = write(as_json(rows))
    for _ in range(2):
        list(reader.read(path))
    messages = [message for message in caplog.messages if "no spaces" in message]
    if share is None:
        assert messages == []
    else:
        (message,) = messages
        assert f"data.txt: {share} of the texts are a single token" in message
        assert "set the tokenizer to 'character'" in message
