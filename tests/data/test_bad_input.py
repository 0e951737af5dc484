"""Readers and commands on the input that users get wrong.

An error names the file and the line, or the argument. Any other input becomes an instance with at
least one token a text; that models predict on these is in `tests/models/test_every_model.py`.
"""

import json

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.fields import ListField
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import (
    AnswerSelectionReader,
    ReadingComprehensionReader,
    SentencePairReader,
    SentimentTreesReader,
    SingleSentenceReader,
)

ANSWERS = "QuestionID\tQuestion\tSentenceID\tSentence\tLabel\n"
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
MSRP = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
QUORA = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"


def jsonl(**values):
    return json.dumps(values) + "\n"


def snli(text, label="yes"):
    return jsonl(sentence1=text, sentence2="b", gold_label=label)


# For each format a reader, a header, and a function from a text and a label to a row.
FORMATS = {
    "snli": (SentencePairReader("snli"), "", snli),
    "multinli": (SentencePairReader("multinli"), "", snli),
    "sick": (
        SentencePairReader("sick"),
        SICK,
        lambda text, label="yes": f"1\t{text}\tb\t3\t{label}\n",
    ),
    "msrp": (
        SentencePairReader("msrp"),
        MSRP,
        lambda text, label="yes": f"{label}\t1\t2\t{text}\tb\n",
    ),
    "quora": (
        SentencePairReader("quora"),
        QUORA,
        lambda text, label="yes": f"1\t2\t3\t{text}\tb\t{label}\n",
    ),
    "scitail": (
        SentencePairReader("scitail"),
        "",
        lambda text, label="yes": f"{text}\tb\t{label}\n",
    ),
    "table of pairs": (
        SentencePairReader("table"),
        "sentence1,sentence2,label\n",
        lambda text, label="yes": f'"{text}",b,{label}\n',
    ),
    "label_first": (
        SingleSentenceReader("label_first"),
        "",
        lambda text, label="yes": f"{label}\t{text}\n",
    ),
    "table of sentences": (
        SingleSentenceReader("table"),
        "",
        lambda text, label="yes": jsonl(text=text, label=label),
    ),
    # A question of TREC cannot be empty, and its labels are in upper case; a tree's are numbers.
    "trec": (
        SingleSentenceReader("trec"),
        "",
        lambda text, label="YES": f"{label.upper()}:x {text or '?'}\n",
    ),
    "sentiment_trees": (
        SentimentTreesReader(),
        "",
        lambda text, label="3": (
            f"({'4' if label == 'never' else '3'} {' '.join(f'(2 {w})' for w in text.split())})\n"
        ),
    ),
    "wikiqa": (
        AnswerSelectionReader("wikiqa"),
        ANSWERS,
        lambda text, label="1": f"Q1\t{text}\tS1\tb\t{label}\n",
    ),
    "table of questions": (
        ReadingComprehensionReader("table"),
        "",
        lambda text: jsonl(question=text, passage=text, answers="b"),
    ),
}
LABELED = [name for name in FORMATS if name not in ("wikiqa", "table of questions")]


def texts(instance):
    for name, field in instance.fields.items():
        if name != "metadata" and hasattr(field, "tokens"):
            yield field.tokens
        elif isinstance(field, ListField):
            yield from (text.tokens for text in field)


@pytest.mark.parametrize("name", FORMATS)
def test_a_text_of_no_words_and_of_5000(write, name):
    reader, header, row = FORMATS[name]
    for text, length in [("", 1), ("word " * 4999 + "word", 5000)]:
        (instance,) = reader.read(write(header + row(text)))
        lengths = [len(tokens) for tokens in texts(instance)]
        assert lengths[0] == length
        assert all(length >= 1 for length in lengths)


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_file(write, name):
    reader, header, _ = FORMATS[name]
    for content in ("", "\n", header):
        with pytest.raises(ConfigurationError, match=r"data\.txt is empty"):
            list(reader.read(write(content)))


@pytest.mark.parametrize("name", FORMATS)
def test_a_line_that_lacks_a_field(write, name):
    reader, header, row = FORMATS[name]
    with pytest.raises(ConfigurationError, match=r"data\.txt, line \d: .*(column|expected)"):
        list(reader.read(write(header + row("a") + "incomplete\n")))


@pytest.mark.parametrize("name", ["snli", "multinli", "table of sentences", "answers"])
@pytest.mark.parametrize("text", [5, None, ["a"], {"a": "b"}, True])
def test_a_text_that_is_no_string(write, name, text):
    if name == "answers":
        reader = AnswerSelectionReader("table")
        row = jsonl(question=text, candidate="a", label=1)
    else:
        reader, _, make = FORMATS[name]
        row = make(text)
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 1: column .* must be a string"):
        list(reader.read(write(row)))


def vocabulary(reader, path):
    return Vocabulary.from_instances(list(reader.read(path)))


@pytest.mark.parametrize("name", LABELED)
def test_a_label_never_seen(write, name):
    reader, header, row = FORMATS[name]
    vocab = vocabulary(reader, write(header + row("a") + row("b")))
    known = ", ".join(map(repr, vocab.get_token_to_index_vocabulary("labels")))
    path = write(header + row("a") + row("b", "never"), "test.txt")
    line = 2 + (header != "")
    *_, instance = reader.read(path)
    label = instance["label"].label
    with pytest.raises(ConfigurationError) as error:
        instance.index_fields(vocab)
    assert label != "yes"
    assert str(error.value) == (
        f"{path}, line {line}: the label {label!r} does not occur in the training data; "
        f"expected {known}"
    )


def test_a_label_never_seen_that_a_file_or_folder_is_named_after(tmp_path):
    for name, format in [("sentences.odd", "two_files"), ("odd/1.txt", "directories")]:
        path = tmp_path / format / name
        path.parent.mkdir(parents=True)
        path.write_text("a\n")
        data_path = {"odd": str(path)} if format == "two_files" else tmp_path / format
        (instance,) = SingleSentenceReader(format).read(data_path)
        place = f"{path}, line 1" if format == "two_files" else str(path)
        with pytest.raises(ConfigurationError) as error:
            instance.index_fields(Vocabulary(counter={"labels": {"yes": 1}}))
        assert str(error.value).startswith(f"{place}: the label 'odd' does not occur")


def test_a_swapped_pair_has_the_same_place(write):
    path = write(snli("a", "never"))
    for instance in SentencePairReader("snli", swap_pairs=True).read(path):
        with pytest.raises(ConfigurationError, match=r"data\.txt, line 1: the label 'never'"):
            instance.index_fields(Vocabulary(counter={"labels": {"yes": 1}}))


def test_a_ranker_takes_no_other_labels_than_0_and_1(write):
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 2: expected the label 0 or 1"):
        list(AnswerSelectionReader("wikiqa").read(write(ANSWERS + "Q1\ta\tS1\tb\tyes\n")))


@pytest.mark.parametrize("max_instances_in_memory", [None, 2])
def test_a_label_never_seen_by_workers(write, max_instances_in_memory):
    """The main process indexes what workers read; they do it themselves if not all is kept."""
    reader = SentencePairReader("snli")
    vocab = vocabulary(reader, write(snli("a")))
    path = str(write(snli("a") * 3 + snli("a", "never"), "test.txt"))

    def load():
        loader = MultiProcessDataLoader(
            reader,
            path,
            batch_size=2,
            num_workers=2,
            max_instances_in_memory=max_instances_in_memory,
        )
        loader.index_with(vocab)
        return list(loader)

    with pytest.raises(Exception, match=r"test\.txt, line 4: the label 'never' does not occur"):
        load()


def test_labels_reach_the_batch_from_workers(write):
    reader = SentencePairReader("snli")
    path = str(write("".join(snli("a", label) for label in "abba")))
    loader = MultiProcessDataLoader(reader, path, batch_size=4, num_workers=2, quiet=True)
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    (batch,) = loader
    assert sorted(batch["label"].tolist()) == [0, 0, 1, 1]


class TestCommands:
    HEADER = "sentence1\tsentence2\tlabel\n"

    def test_evaluate(self, allennlp, small_archive, write):
        path = write(self.HEADER + "a\tb\tneutral\na\tb\tmaybe\n")
        with pytest.raises(ConfigurationError) as error:
            allennlp("evaluate", small_archive, path)
        assert str(error.value) == (
            f"{path}, line 3: the label 'maybe' does not occur in the training data; expected one "
            "of 'contradiction', 'entailment', 'neutral'"
        )

    def test_evaluate_what_is_unusual_and_right(self, allennlp, small_archive, write, tmp_path):
        path = write(self.HEADER + f"\tb\tneutral\n{'word ' * 5000}\t\tentailment\n")
        allennlp("evaluate", small_archive, path, "--output-file", tmp_path / "metrics.json")
        assert 0 <= json.loads((tmp_path / "metrics.json").read_text())["accuracy"] <= 1

    def test_evaluate_a_fold_and_the_whole_file(self, allennlp, small_archive, write, tmp_path):
        rows = ["a\tb\tneutral\n", "c\td\tentailment\n", "e\tf\tcontradiction\n"] * 2
        path = write(self.HEADER + "".join(rows))
        output = tmp_path / "predictions.jsonl"
        fold = json.dumps({"path": str(path), "folds": {"number": 3, "keep": [1]}})
        for data_path, number in [(str(path), 6), (fold, 2)]:
            allennlp(
                *("evaluate", small_archive, data_path),
                *("--output-file", tmp_path / "metrics.json", "--predictions-output-file", output),
            )
            lines = [json.loads(line) for line in output.read_text().splitlines()]
            assert sum(len(line["label"]) for line in lines) == number

    def test_build_vocab_from_folds(self, allennlp, tmp_path, fixtures):
        path = str(fixtures / "quick_start" / "validation.tsv")
        folds = json.dumps(
            {
                "train_data_path": {"path": path, "folds": {"number": 10, "keep": [0]}},
                "validation_data_path": {"path": path, "folds": {"number": 10, "keep": [1]}},
            }
        )
        configuration = "training_config/quick_start.jsonnet"
        allennlp("build-vocab", configuration, tmp_path / "vocabulary.tar.gz", "-o", folds)
        assert (tmp_path / "vocabulary.tar.gz").is_file()

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ('[\n{"sentence1": "a", "sentence2": "b", "label": "x"}\n]\n', r"line 1: .*jq -c"),
            (jsonl(sentence1="a", sentence2="b", label=None), "has no label; is the training data"),
            (HEADER + "a\tb\tx\n" * 2, "the only label in the vocabulary is 'x'"),
        ],
    )
    def test_train(self, allennlp, write, tmp_path, content, message):
        path = write(content)
        overrides = json.dumps({"train_data_path": str(path), "validation_data_path": str(path)})
        with pytest.raises(ConfigurationError, match=message):
            allennlp(
                *("train", "training_config/quick_start.jsonnet"),
                *("--serialization-dir", tmp_path / "model", "--overrides", overrides),
            )

    def test_predict(self, allennlp, small_archive, write, tmp_path):
        with pytest.raises(ConfigurationError, match=r"expected premise/hypothesis or .* got"):
            allennlp(
                *("predict", small_archive, write('{"premise": "a"}')),
                *("--output-file", tmp_path / "predictions.jsonl"),
            )

    def test_predict_on_nothing(self, allennlp, small_archive, write, tmp_path):
        output = tmp_path / "predictions.jsonl"
        allennlp("predict", small_archive, write(""), "--output-file", output)
        assert output.read_text() == ""

    def test_a_text_of_no_words_and_of_5000(self, small_archive):
        predictor = Predictor.from_path(small_archive)
        for text in ("", "word " * 5000):
            output = predictor.predict_json({"premise": text, "hypothesis": ""})
            assert sum(output["label_probs"]) == pytest.approx(1, abs=1e-6)
