"""Loaders for evaluation yield every example once, in the file's order."""

from itertools import chain

import pytest
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, Vocabulary

from allennlp_sentmatch.data.data_loaders import SemiSupervisedDataLoader
from allennlp_sentmatch.data.evaluation import evaluation_loader

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
