"""Every published format of single sentences gives its rows and labels."""

import gzip
from collections import Counter

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import WhitespaceTokenizer

from allennlp_sentmatch.data.dataset_readers import SingleSentenceReader


def read(format, path, **settings):
    settings.setdefault("tokenizer", WhitespaceTokenizer())
    return list(SingleSentenceReader(format, **settings).read(path))


def example(instance):
    """Text, label and id of an instance."""
    metadata = instance["metadata"].metadata
    label = instance["label"].label if "label" in instance.fields else None
    return metadata["text"], label, metadata.get("id")


def labels(instances):
    return [example(instance)[1] for instance in instances]


def words(instance):
    return [token.text for token in instance["tokens"].tokens]


def test_trec(fixtures):
    instances = read("trec", fixtures / "data/trec.label")
    assert labels(instances) == ["NUM", "HUM", "LOC", "NUM", "DESC", "ENTY", "ABBR", "LOC"]
    assert words(instances[0]) == ["When", "was", "the", "bridge", "built", "?"]
    assert "Café" in words(instances[1])  # in latin-1
    # Different coarse types share the fine name "other".
    assert labels(read("trec", fixtures / "data/trec.label", granularity="fine")) == [
        "NUM:date",
        "HUM:ind",
        "LOC:city",
        "NUM:count",
        "DESC:def",
        "ENTY:other",
        "ABBR:exp",
        "LOC:other",
    ]


def test_label_first(fixtures, write):
    instances = read("label_first", fixtures / "data/reviews.task.train")
    assert labels(instances) == ["1", "0", "1", "0"]
    assert example(instances[1])[0] == "it broke after two days .\tnever again !"
    assert words(instances[1])[-4:] == [".", "never", "again", "!"]
    (instance,) = read("label_first", write("1\t\n"))
    assert example(instance) == ("", "1", None)


@pytest.mark.parametrize(
    ("format", "line", "message"),
    [
        *(
            ("trec", line, "expected 'COARSE:fine")
            for line in ("When was it ?", "NUM When ?", "NUM:date", "NUM:date  ")
        ),
        *(
            ("label_first", line, "expected a label, a tab")
            for line in ("a text without a label", "\ta text", " \ta text")
        ),
    ],
)
def test_malformed_lines(write, format, line, message):
    path = write({"trec": "NUM:date When ?\n", "label_first": "1\ta\n"}[format] + line + "\n")
    with pytest.raises(ConfigurationError, match=rf"data\.txt, line 2: {message}"):
        read(format, path)


def test_a_folder_of_two_files_has_the_labels_as_suffixes(fixtures, write, tmp_path):
    folder = fixtures / "data/polarity"
    found = list(map(example, read("two_files", folder)))
    assert [label for _, label, _ in found] == ["neg"] * 3 + ["pos"] * 3
    assert found[0] == ("a dull , lifeless sequel \u2014 nothing works .", "neg", None)
    assert found[-1] == ("clichés aside , a joy to watch .", "pos", None)
    for path in folder.iterdir():
        # The label precedes the suffix "gz".
        write(gzip.compress(path.read_bytes()), f"folder/{path.name}.gz")
    assert list(map(example, read("two_files", tmp_path / "folder"))) == found


def test_an_object_of_files_in_another_encoding(write):
    files = {"1": write(gzip.compress("naïve\n".encode()), "x"), "0": write("é\n", "y")}
    instances = read("two_files", files, encoding="utf-8")
    assert list(map(example, instances)) == [("naïve", "1", None), ("é", "0", None)]


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["a.neg", "a.pos", "README"], r"found README, a\.neg, a\.pos"),
        (["a.neg", "b.neg"], r"found a\.neg, b\.neg"),
        ([], "found none"),
    ],
)
def test_another_number_of_files_is_an_error(tmp_path, write, names, listed):
    for name in names:
        write("text\n", name)
    with pytest.raises(ConfigurationError, match=f"expected a folder of two files.*{listed}"):
        read("two_files", tmp_path)


@pytest.mark.parametrize("format", ["two_files", "directories"])
def test_what_is_no_folder_is_named(format, write):
    with pytest.raises(ConfigurationError, match=r"data\.txt is a file; expected a folder"):
        read(format, write("a"))
    with pytest.raises(ConfigurationError, match=r"expected the path of a folder, got \['a'\]"):
        read(format, ["a"])


def test_labels_are_directories_and_the_unlabeled_one_is_left_out(fixtures):
    found = list(map(example, read("directories", fixtures / "data/movies")))
    ids = ["neg/0_2.txt", "neg/1_2.txt", "pos/0_9.txt", "pos/1_9.txt"]
    assert [(label, id) for _, label, id in found] == [(id[:3], id) for id in ids]
    assert found[0][0] == "I wanted to like it.<br /><br />I did not."


def test_a_file_of_a_directory_is_a_text(write, tmp_path):
    with pytest.raises(ConfigurationError, match="expected a folder for each label"):
        read("directories", tmp_path)
    (tmp_path / "pos").mkdir()
    with pytest.raises(ConfigurationError, match="pos is empty"):
        read("directories", tmp_path)
    for content, text in (("one\n\n2\n", "one\n\n2"), ("", "")):
        write(content, "pos/x.txt")
        assert example(read("directories", tmp_path)[0]) == (text, "pos", "pos/x.txt")


TRAIN = {
    "ENTY": 1250,
    "HUM": 1223,
    "DESC": 1162,
    "NUM": 896,
    "LOC": 835,
    "ABBR": 86,
}
SLOW = pytest.mark.slow
TEST = {
    "DESC": 138,
    "NUM": 113,
    "ENTY": 94,
    "LOC": 81,
    "HUM": 65,
    "ABBR": 9,
}


@pytest.mark.parametrize(
    ("format", "path", "expected"),
    [
        pytest.param("trec", "trec/train_5500.label", TRAIN, marks=SLOW),
        ("trec", "trec/TREC_10.label", TEST),
        # Without blank lines, CR and MPQA have 2 + 2 and 2 + 1.
        pytest.param("two_files", "mr", {"neg": 5331, "pos": 5331}, marks=SLOW),
        ("two_files", "cr", {"neg": 1368 - 2, "pos": 2407 - 2}),
        pytest.param("two_files", "subj", {"objective": 5000, "subjective": 5000}, marks=SLOW),
        pytest.param("two_files", "mpqa", {"neg": 7294 - 2, "pos": 3312 - 1}, marks=SLOW),
    ],
)
def test_the_published_data(shared_data, format, path, expected):
    instances = read(format, shared_data / path)
    assert Counter(labels(instances)) == expected
    # Read in the wrong encoding, dashes and quotes would be control characters.
    control = {chr(code) for code in range(0x80, 0xA0)}
    assert not any(control & set(example(instance)[0]) for instance in instances)
    if format == "trec":
        fine = labels(read("trec", shared_data / path, granularity="fine"))
        assert len(set(fine)) == {1250: 50, 94: 42}[expected["ENTY"]]
