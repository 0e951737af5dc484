"""Loaders for evaluation yield every example once, in the file's order."""

import copy
from itertools import chain

import pytest
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, Vocabulary

from allennlp_sentmatch.data.data_loaders import SemiSupervisedDataLoader
from allennlp_sentmatch.data.evaluation import evaluation_loader, remove_limits, whole

BUCKETS = {
    "type": "bucket",
    "batch_size": 4,
    "drop_last": True,
}
TOKENS = {"type": "max_tokens_sampler", "max_tokens": 20}


def load(file, settings):
    reader = DatasetReader.by_name("sentence_pair")(
        "table",
        sentence1=0,
        sentence2=1,
        label=2,
    )
    loader = evaluation_loader(Params(settings), reader=reader, data_path=str(file))
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    return loader


def numbers(batch):
    return [int(pair["premise"].split()[0]) for pair in batch["metadata"]]


@pytest.fixture
def file(write):
    """Write ten pairs, whose first sentences have from 2 to 11 words, the longest first."""
    lines = []
    for i in range(10):
        words = "word " * (10 - i)
        lines.append(f"{i} {words}\tend\tyes\n")
    return write("".join(lines))


WORKERS = {
    "batch_size": 4,
    "shuffle": True,
    "drop_last": True,
    "num_workers": 2,
}


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        (WORKERS, [4, 4, 2]),
        ({"batch_sampler": BUCKETS}, [4, 4, 2]),
        ({"batch_sampler": BUCKETS, "batch_size": 3}, [3, 3, 3, 1]),  # evaluate --batch-size 3
        ({"batch_sampler": BUCKETS, "max_instances_in_memory": 5}, [4, 1, 4, 1]),
        # At most 20 tokens, with padding to 11, 10 9, 8 7, 6 5 4, and so on.
        ({"batch_sampler": TOKENS}, [1, 2, 2, 3, 2]),
        ({"batch_sampler": {**TOKENS, "max_tokens": 1}}, [1] * 10),
        ({"type": "semi_supervised", "batch_size": 6, "num_labeled": 99}, [6, 4]),
        ({"type": "simple", "batch_size": 6, "shuffle": True}, [6, 4]),
        # Intended: always the first batches, without repetition.
        ({"batch_size": 4, "shuffle": True, "batches_per_epoch": 2}, [4, 4]),
        ({"batch_size": 4, "batches_per_epoch": 5}, [4, 4, 2]),
    ],
    ids=str,
)
def test_every_example_once_in_order(file, settings, sizes):
    loader = load(file, settings)
    for _ in range(2):
        batches = [numbers(batch) for batch in loader]
        assert [len(batch) for batch in batches] == sizes
        assert list(chain.from_iterable(batches)) == list(range(sum(sizes)))


@DataLoader.register("tests_loader", exist_ok=True)
class Other(SemiSupervisedDataLoader):
    """Somebody's loader."""


def test_other_loaders_are_as_configured(file):
    settings = {
        "type": "tests_loader",
        "batch_size": 2,
        "num_labeled": 4,
    }
    assert isinstance(load(file, settings), Other)


PAIRS = {"type": "sentence_pair", "format": "table", "sentence1": 0, "sentence2": 1, "label": None}
QUESTIONS = {
    "type": "reading_comprehension",
    "format": "table",
    "question": 0,
    "passage": 1,
    "answers": 1,
}


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        ({**PAIRS, "swap_pairs": True}, 4),
        ({"type": "parallel_text", "max_length": 2}, 1),
        ({**QUESTIONS, "answers": 0, "min_overlap": 1.0}, 1),
        ({"type": "sharded", "base_reader": {"type": "parallel_text", "max_length": 2}}, 1),
    ],
    ids=["pairs", "translations", "questions", "shards"],
)
def test_settings_for_training_are_not_heeded(write, settings, number):
    """The first of two pairs has a sentence of three words, which its other one lacks."""
    path = write("one two three\tfour\nfive\tfive\n", "pairs.tsv")
    if settings["type"] == "sharded":
        path = path.with_name("pai*.tsv")
    reader = DatasetReader.from_params(Params(copy.deepcopy(settings)))
    assert len(list(reader.read(str(path)))) == number
    assert len(list(whole(reader).read(str(path)))) == 2
    assert len(list(reader.read(str(path)))) == number
    remove_limits(settings)
    assert len(list(DatasetReader.from_params(Params(settings)).read(str(path)))) == 2


def test_texts_are_cut_as_in_training(write):
    settings = {**PAIRS, "max_length": 2}
    reader = DatasetReader.from_params(Params({**settings}))
    path = write("one two three\tfour\n")
    (pair,) = whole(reader).read(str(path))
    assert pair["metadata"]["premise_tokens"] == ["one", "two"]
    remove_limits(settings)
    assert settings["max_length"] == 2


def test_other_readers_keep_their_settings():
    class Stranger(DatasetReader):
        max_length = 2
        swap_pairs = True

    reader = whole(Stranger(max_instances=3))
    assert (reader.max_instances, reader.max_length, reader.swap_pairs) == (None, 2, True)
    settings = {"type": "a.stranger", "max_length": 2, "swap_pairs": True, "max_instances": 3}
    remove_limits(settings)
    assert settings == {"type": "a.stranger", "max_length": 2, "swap_pairs": True}
