"""The phrases of trees are those of AllenNLP's reader and of the published counts."""

from itertools import chain

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.dataset_readers import WorkerInfo
from allennlp.data.tokenizers import Token

from allennlp_sentmatch.data.dataset_readers import SentimentTreesReader
from allennlp_sentmatch.files.lines import text_rows


def words(instance):
    return [token.text for token in instance["tokens"].tokens]


def label(instance):
    return instance["label"].label


def read(path, **settings):
    return list(SentimentTreesReader(**settings).read(path))


@pytest.fixture
def trees(fixtures):
    return fixtures / "data/sentiment_trees.txt"


def test_sentences(trees):
    instances = read(trees)
    assert [label(instance) for instance in instances] == ["3", "0", "2", "4", "1", "2"]
    assert words(instances[3]) == ["Wonderful", "(", "if", "long", ")", "."]
    assert instances[4]["metadata"].metadata == {
        "text": "An action/comedy mess .",
        "tokens": ["An", "action/comedy", "mess", "."],
    }


TREES = "(3 (2 It) (4 (3 works) (2 .)))\n\n(2 (1 Bad) (3 good))\n"


@pytest.mark.parametrize(
    ("settings", "phrases"),
    [
        ({}, "It works . 3, It 2, works . 4, works 3, . 2, Bad good 2, Bad 1, good 3"),
        # Short phrases are left out, but sentences never.
        ({"min_phrase_length": 2}, "It works . 3, works . 4, Bad good 2"),
        ({"min_phrase_length": 9}, "It works . 3, Bad good 2"),
        ({"use_neutral_sentences": False}, "It works . 3, It 2, works . 4, works 3, . 2"),
    ],
)
def test_every_node_of_a_tree_is_a_phrase(write, settings, phrases):
    instances = read(write(TREES), use_subtrees=True, **settings)
    assert ", ".join(" ".join([*words(i), label(i)]) for i in instances) == phrases


@pytest.mark.parametrize("use_subtrees", [False, True])
@pytest.mark.parametrize("granularity", ["5-class", "3-class", "2-class"])
def test_same_instances_as_allennlp_models(trees, granularity, use_subtrees):
    sst = pytest.importorskip(
        "allennlp_models.classification.dataset_readers.stanford_sentiment_tree_bank"
    )
    settings = {"granularity": granularity, "use_subtrees": use_subtrees}
    reference = sst.StanfordSentimentTreeBankDatasetReader(**settings).read(trees)
    escapes = {
        "-LRB-": "(",
        "-RRB-": ")",
        "action\\/comedy": "action/comedy",
    }
    expected = [([escapes.get(word, word) for word in words(i)], label(i)) for i in reference]
    assert [(words(i), label(i)) for i in read(trees, **settings)] == expected
    assert expected


def test_text_for_prediction():
    reader = SentimentTreesReader()
    assert words(reader.text_to_instance("It isn't bad.")) == ["It", "is", "n't", "bad", "."]
    assert words(reader.text_to_instance(["It", "isn't", "bad"])) == ["It", "isn't", "bad"]
    assert words(reader.text_to_instance([Token("(")])) == ["("]
    assert set(reader.text_to_instance("So so.").fields) == {"tokens", "metadata"}
    for empty in ("", []):
        assert len(reader.text_to_instance(empty)["tokens"].tokens) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        *(
            (line, "expected a labeled tree")
            for line in ("(3 (2 It) (4 works)", "(3 (2 It)) (4 works)", "no tree")
        ),
        ("(3 (2 It) (5 works))", "a node has the label '5'"),
        ("((2 It) (4 works))", "a node has the label ''"),
    ],
)
def test_malformed_trees_name_file_and_line(write, line, message):
    path = write("(2 Yes)\n" + line + "\n")
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 2: .*" + message):
        read(path, use_subtrees=True)


def test_folds_are_of_sentences_and_the_shares_of_workers_of_phrases(trees):
    def make(**settings):
        params = {
            "type": "sentiment_trees",
            "granularity": "2-class",
            "use_subtrees": True,
        }
        return DatasetReader.from_params(Params({**params, **settings}))

    everything = list(map(words, make().read(trees)))
    assert list(map(words, make(max_instances=3).read(trees))) == everything[:3]
    first = list(map(words, make().read({"path": str(trees), "folds": {"number": 6, "keep": [0]}})))
    assert first == everything[: len(first)]
    assert 0 < len(first) < len(everything)
    for worker in range(3):
        reader = make()
        reader._set_worker_info(WorkerInfo(num_workers=3, id=worker))
        assert list(map(words, reader.read(trees))) == everything[worker::3]


def phrases(path, granularity, **settings):
    """The phrases without the instances, which take longer."""
    reader = SentimentTreesReader(granularity, **settings)
    found = chain.from_iterable(map(reader._phrases, text_rows(path)))
    return [" ".join(token.text for token in tokens) for tokens, *_ in found]


# CAS-LSTM paper, section 4.3: phrases in training, sentences in the other two.
@pytest.mark.parametrize(
    ("granularity", "dev", "test"),
    [
        ("2-class", 872, 1821),
        ("5-class", 1101, 2210),
    ],
)
def test_published_counts_of_sentences(shared_data, granularity, dev, test):
    for name, number in (("dev", dev), ("test", test)):
        assert len(phrases(shared_data / "sst" / f"{name}.txt", granularity)) == number


@pytest.mark.slow
@pytest.mark.parametrize(
    ("granularity", "train"),
    [
        ("2-class", 98794),
        ("5-class", 318582),
    ],
)
def test_published_counts_of_phrases(shared_data, granularity, train):
    file = shared_data / "sst" / "train.txt"
    found = phrases(file, granularity, use_subtrees=True)
    assert len(found) == train
    if granularity == "2-class":
        assert len(set(found)) == 77616
        long = phrases(file, granularity, use_subtrees=True, min_phrase_length=4)
        assert len(long) == 56405  # SuBiLSTM's paper: 56.4k
