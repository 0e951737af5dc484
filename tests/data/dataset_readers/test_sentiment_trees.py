from itertools import chain

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.dataset_readers import WorkerInfo
from allennlp.data.tokenizers import Token

from allennlp_sentmatch.data.dataset_readers import SentimentTreesReader
from allennlp_sentmatch.data.files.lines import text_rows


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
    assert words(instances[0]) == ["The", "songs", "are", "lovely", "."]
    assert words(instances[3]) == ["Wonderful", "(", "if", "long", ")", "."]
    assert words(instances[4]) == ["An", "action/comedy", "mess", "."]
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
    reference = sst.StanfordSentimentTreeBankDatasetReader(
        granularity=granularity, use_subtrees=use_subtrees
    )
    escapes = {"-LRB-": "(", "-RRB-": ")", "action\\/comedy": "action/comedy"}
    expected = [
        ([escapes.get(word, word) for word in words(instance)], label(instance))
        for instance in reference.read(trees)
    ]
    instances = read(trees, granularity=granularity, use_subtrees=use_subtrees)
    assert [(words(i), label(i)) for i in instances] == expected
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


def test_from_a_configuration(trees):
    parameters = {"type": "sentiment_trees", "granularity": "2-class", "use_subtrees": True}
    reader = DatasetReader.from_params(Params(dict(parameters)))
    everything = [words(instance) for instance in reader.read(trees)]
    reader = DatasetReader.from_params(Params({**parameters, "max_instances": 3}))
    assert [words(instance) for instance in reader.read(trees)] == everything[:3]
    # Folds are of sentences, and the shares of workers of phrases.
    folds = {"path": str(trees), "folds": {"number": 6, "keep": [0]}}
    for worker in range(3):
        reader = DatasetReader.from_params(Params(dict(parameters)))
        first = [words(instance) for instance in reader.read(folds)]
        assert first[0] == everything[0]
        assert first == everything[: len(first)]
        assert len(first) < len(everything)
        reader._set_worker_info(WorkerInfo(num_workers=3, id=worker))
        assert [words(instance) for instance in reader.read(trees)] == everything[worker::3]


def phrases_of(reader, path):
    """Tokens, label and source of all phrases, without the instances, which take longer."""
    return chain.from_iterable(map(reader._phrases, text_rows(path)))


# CAS-LSTM paper, section 4.3: phrases in training, sentences in the other two.
@pytest.mark.parametrize(
    ("granularity", "train", "dev", "test"),
    [("2-class", 98794, 872, 1821), ("5-class", 318582, 1101, 2210)],
)
def test_published_counts(shared_data, granularity, train, dev, test):
    reader = SentimentTreesReader(granularity)
    for part, number in (("dev.txt", dev), ("test.txt", test)):
        assert sum(1 for _ in phrases_of(reader, shared_data / "sst" / part)) == number
    path = shared_data / "sst" / "train.txt"
    reader = SentimentTreesReader(granularity, use_subtrees=True)
    phrases = [" ".join(t.text for t in tokens) for tokens, *_ in phrases_of(reader, path)]
    assert len(phrases) == train
    if granularity == "2-class":
        assert len(set(phrases)) == 77616
        reader = SentimentTreesReader("2-class", use_subtrees=True, min_phrase_length=4)
        assert sum(1 for _ in phrases_of(reader, path)) == 56405  # SuBiLSTM's paper: 56.4k
