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


def words(instance):
    return [token.text for token in instance["tokens"].tokens]


class TestTrec:
    def test_coarse(self, fixtures):
        instances = read("trec", fixtures / "data/trec.label")
        assert [example(instance)[1] for instance in instances] == [
            *("NUM", "HUM", "LOC", "NUM", "DESC", "ENTY", "ABBR", "LOC")
        ]
        assert words(instances[0]) == ["When", "was", "the", "bridge", "built", "?"]

    def test_fine(self, fixtures):
        instances = read("trec", fixtures / "data/trec.label", granularity="fine")
        # Different coarse types share the fine name "other".
        assert [example(instance)[1] for instance in instances] == [
            *("NUM:date", "HUM:ind", "LOC:city", "NUM:count"),
            *("DESC:def", "ENTY:other", "ABBR:exp", "LOC:other"),
        ]

    def test_latin_1(self, fixtures):
        assert "Café" in words(read("trec", fixtures / "data/trec.label")[1])

    @pytest.mark.parametrize("line", ["When was it ?", "NUM When ?", "NUM:date", "NUM:date  "])
    def test_malformed(self, write, line):
        path = write("NUM:date When ?\n" + line + "\n")
        with pytest.raises(ConfigurationError, match=r"data\.txt, line 2: expected 'COARSE:fine"):
            read("trec", path)


class TestLabelFirst:
    def test_examples(self, fixtures):
        instances = read("label_first", fixtures / "data/reviews.task.train")
        assert [example(instance)[1] for instance in instances] == ["1", "0", "1", "0"]
        assert example(instances[1])[0] == "it broke after two days .\tnever again !"
        assert words(instances[1])[-4:] == [".", "never", "again", "!"]

    @pytest.mark.parametrize("line", ["a text without a label", "\ta text", " \ta text"])
    def test_malformed(self, write, line):
        with pytest.raises(ConfigurationError, match="line 2: expected a label, a tab"):
            read("label_first", write("1\ta text\n" + line + "\n"))

    def test_a_label_without_a_text_is_an_empty_sentence(self, write):
        (instance,) = read("label_first", write("1\t\n"))
        assert example(instance) == ("", "1", None)
        assert len(words(instance)) == 1


class TestTwoFiles:
    def test_a_folder_with_labels_from_suffixes(self, fixtures):
        instances = read("two_files", fixtures / "data/polarity")
        assert [example(instance)[:2] for instance in instances] == [
            ("a dull , lifeless sequel \u2014 nothing works .", "neg"),
            ("the plot never starts .", "neg"),
            ("the jokes are older than the cast .", "neg"),
            ("a warm and witty film .", "pos"),
            ("the director\u2019s best work so far .", "pos"),
            ("clichés aside , a joy to watch .", "pos"),
        ]

    def test_an_object_of_files(self, fixtures, tmp_path):
        folder = fixtures / "data/polarity"
        compressed = tmp_path / "compressed"
        compressed.write_bytes(gzip.compress((folder / "snippets.pos").read_bytes()))
        instances = read("two_files", {"1": compressed, "0": folder / "snippets.neg"})
        assert [example(instance)[1] for instance in instances] == ["1", "1", "1", "0", "0", "0"]

    def test_compressed_files_have_the_label_before_the_gz(self, fixtures, tmp_path):
        for path in (fixtures / "data/polarity").iterdir():
            (tmp_path / (path.name + ".gz")).write_bytes(gzip.compress(path.read_bytes()))
        assert [example(i) for i in read("two_files", tmp_path)] == [
            example(i) for i in read("two_files", fixtures / "data/polarity")
        ]

    def test_another_encoding(self, write):
        files = {"a": write("naïve\n", "x"), "b": write("é\n", "y")}
        texts = [example(i)[0] for i in read("two_files", files, encoding="utf-8")]
        assert texts == ["naïve", "é"]

    @pytest.mark.parametrize(
        ("names", "listed"),
        [
            (["a.neg"], "there is a.neg"),
            (["a.neg", "a.pos", "README"], r"there are README, a\.neg, a\.pos"),
            (["a.neg", "b.neg"], r"there are a\.neg, b\.neg"),
            ([], "there are none"),
        ],
    )
    def test_another_number_of_files_is_an_error(self, tmp_path, names, listed):
        for name in names:
            (tmp_path / name).write_text("text\n")
        with pytest.raises(ConfigurationError, match=f"expected a folder of two files.*{listed}"):
            read("two_files", tmp_path)

    def test_a_file_is_no_folder(self, write):
        with pytest.raises(ConfigurationError, match="is a file; expected a folder"):
            read("two_files", write("text\n"))

    def test_folds_have_the_labels_proportions(self, fixtures):
        folder = fixtures / "data/polarity"
        everything = [example(i) for i in read("two_files", folder)]
        for fold in range(3):
            kept = {"path": folder, "folds": {"number": 3, "keep": [fold]}}
            held_out = [example(i) for i in read("two_files", kept)]
            assert held_out == [everything[fold], everything[3 + fold]]
            rest = read("two_files", {"path": folder, "folds": {"number": 3, "drop": [fold]}})
            assert Counter(map(example, rest)) == Counter(everything) - Counter(held_out)


class TestDirectories:
    def test_labels_are_folders_and_the_unlabeled_one_is_left_out(self, fixtures):
        instances = read("directories", fixtures / "data/movies")
        assert [example(instance) for instance in instances] == [
            ("I wanted to like it.<br /><br />I did not.", "neg", "neg/0_2.txt"),
            ("Two hours I will never get back.", "neg", "neg/1_2.txt"),
            ("A small masterpiece.", "pos", "pos/0_9.txt"),
            ("My children loved every minute of it!", "pos", "pos/1_9.txt"),
        ]

    def test_a_text_of_several_lines(self, write, tmp_path):
        write("one\ntwo\n\nthree\n", "pos/x.txt")
        assert example(read("directories", tmp_path)[0]) == (
            "one\ntwo\n\nthree",
            "pos",
            "pos/x.txt",
        )

    def test_an_empty_file_is_an_empty_sentence(self, write, tmp_path):
        write("", "pos/x.txt")
        (instance,) = read("directories", tmp_path)
        assert example(instance)[0] == ""
        assert len(words(instance)) == 1

    def test_no_folders_and_an_empty_one(self, tmp_path):
        with pytest.raises(ConfigurationError, match="expected a folder for each label"):
            read("directories", tmp_path)
        (tmp_path / "neg").mkdir()
        with pytest.raises(ConfigurationError, match="neg is empty"):
            read("directories", tmp_path)

    def test_folds(self, fixtures):
        path = {"path": fixtures / "data/movies", "folds": {"number": 2, "keep": [1]}}
        instances = read("directories", path)
        assert [example(instance)[2] for instance in instances] == ["neg/1_2.txt", "pos/1_9.txt"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "imdb"}, "format='imdb': expected one of trec, label_first, two_files, dir"),
        ({"format": "trec", "granularity": "all"}, "granularity='all': expected 'coarse' or 'fi"),
        ({"format": "trec", "encoding": "utf-9"}, "encoding='utf-9'"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        SingleSentenceReader(**settings)


def test_text_for_prediction():
    reader = SingleSentenceReader("trec", max_length=3)
    instance = reader.text_to_instance("Who wasn't there?")
    assert set(instance.fields) == {"tokens", "metadata"}
    assert words(instance) == instance["metadata"]["tokens"] == ["Who", "was", "n't"]
    with pytest.raises(ConfigurationError, match=r"text must be a string, not \['a'\]"):
        reader.text_to_instance(["a"])


class TestPublishedData:
    @pytest.mark.parametrize(
        ("file", "labels", "fine"),
        [
            (
                "train_5500.label",
                {"ENTY": 1250, "HUM": 1223, "DESC": 1162, "NUM": 896, "LOC": 835, "ABBR": 86},
                50,
            ),
            (
                "TREC_10.label",
                {"DESC": 138, "NUM": 113, "ENTY": 94, "LOC": 81, "HUM": 65, "ABBR": 9},
                42,
            ),
        ],
    )
    def test_trec(self, shared_data, file, labels, fine):
        path = shared_data / "trec" / file
        assert Counter(example(i)[1] for i in read("trec", path)) == labels
        assert len({example(i)[1] for i in read("trec", path, granularity="fine")}) == fine

    # CR and MPQA are counted without their blank lines: 2 + 2 and 2 + 1.
    @pytest.mark.parametrize(
        ("folder", "labels"),
        [
            ("mr", {"neg": 5331, "pos": 5331}),
            ("cr", {"neg": 1368 - 2, "pos": 2407 - 2}),
            ("subj", {"objective": 5000, "subjective": 5000}),
            ("mpqa", {"neg": 7294 - 2, "pos": 3312 - 1}),
        ],
    )
    def test_two_files(self, shared_data, folder, labels):
        instances = read("two_files", shared_data / folder)
        assert Counter(example(instance)[1] for instance in instances) == labels
        # Read in the wrong encoding, dashes and quotes would be control characters.
        control = {chr(code) for code in range(0x80, 0xA0)}
        assert not any(control & set(example(instance)[0]) for instance in instances)

    def test_ten_folds_of_mr(self, shared_data):
        sizes = [
            len(read("two_files", {"path": shared_data / "mr", "folds": folds}))
            for folds in ({"number": 10, "keep": [fold]} for fold in range(10))
        ]
        assert sum(sizes) == 10662
        assert set(sizes) == {1066, 1068}
