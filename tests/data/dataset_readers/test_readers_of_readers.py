"""AllenNLP's readers of readers with this package's: limits, and the shares of processes."""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import DistributedInfo, WorkerInfo
from allennlp.data.instance import Instance

from allennlp_sentmatch.data.evaluation import evaluation_loader, whole

PAIRS = {
    "type": "sentence_pair",
    "format": "table",
    "sentence1": 0,
    "sentence2": 1,
    "label": 2,
}
LIMITED = {**PAIRS, "max_instances": 2}


@pytest.fixture
def files(write):
    """Write two files of five pairs, each of which begins with its number."""
    rows = [f"{number} a\tb\tyes\n" for number in range(10)]
    write("".join(rows[:5]), "shards/a.tsv")
    return write("".join(rows[5:]), "shards/b.tsv").parent


def make(base, kind, **settings):
    """Return a reader of readers over `base`."""
    if kind == "sharded":
        inner = {"base_reader": deepcopy(base)}
    else:
        inner = {"readers": {"a": deepcopy(base), "b": deepcopy(base)}}
    return DatasetReader.from_params(Params({"type": kind, **inner, **settings}))


def data_path(files, kind):
    if kind == "sharded":
        return str(files / "*.tsv")
    return {"a": str(files / "a.tsv"), "b": str(files / "b.tsv")}


def numbers(examples):
    premises = [example.fields["metadata"].metadata["premise"] for example in examples]
    return [int(premise.split()[0]) for premise in premises]


@pytest.mark.parametrize("kind", ["sharded", "interleaving"])
def test_limits_within_are_removed(files, kind):
    path = data_path(files, kind)
    reader = make(LIMITED, kind)
    assert len(numbers(reader.read(path))) == 4
    assert sorted(numbers(whole(reader).read(path))) == list(range(10))
    assert len(numbers(reader.read(path))) == 4  # the reader for training keeps its limit


def test_limits_within_a_reader_within_a_reader(files):
    sharded = {
        "type": "sharded",
        "base_reader": LIMITED,
        "max_instances": 3,
    }
    reader = whole(make(sharded, "interleaving"))
    path = {"a": str(files / "a*"), "b": str(files / "b*")}
    assert sorted(numbers(reader.read(path))) == list(range(10))


def test_every_example_of_all_tasks(files):
    """Examples that the training's loader leaves out are included, in the files' order."""
    scheduler = {
        "type": "roundrobin",
        "batch_size": 4,
        "drop_last": True,
    }
    settings = {"type": "multitask", "scheduler": scheduler}
    reader = whole(make(LIMITED, "multitask"))
    loader = evaluation_loader(Params(settings), reader, data_path(files, "multitask"))
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    found = []
    for batch in loader:
        found += [int(pair["premise"].split()[0]) for pair in batch["metadata"]]
    assert found == [0, 5, 1, 6, 2, 7, 3, 8, 4, 9]


@pytest.mark.parametrize("kind", ["sharded", "interleaving"])
@pytest.mark.parametrize("base", [PAIRS, {**PAIRS, "max_instances": 4}], ids=["all", "limited"])
def test_processes_share_all_examples(files, kind, base, monkeypatch):
    """One of two processes of distributed training reads each example."""
    expected = numbers(make(base, kind).read(data_path(files, kind)))
    shares = []
    for rank in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(torch.distributed, "is_initialized", lambda: True)
            patch.setattr(torch.distributed, "get_world_size", lambda: 2)
            patch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
            assert is_distributed()
            reader = make(base, kind)
            assert reader.get_distributed_info() == DistributedInfo(2, rank)
            shares += numbers(reader.read(data_path(files, kind)))
    assert Counter(shares) == Counter(expected)


@pytest.mark.parametrize("kind", ["sharded", "interleaving"])
def test_workers_share_all_examples(files, kind):
    shares = []
    for worker in range(2):
        reader = make(PAIRS, kind)
        reader._set_worker_info(WorkerInfo(num_workers=2, id=worker))
        shares += numbers(reader.read(data_path(files, kind)))
    assert sorted(shares) == list(range(10))


def test_workers_of_a_loader(files):
    settings = {
        "batch_size": 3,
        "num_workers": 2,
        "quiet": True,
    }
    reader = make(PAIRS, "interleaving")
    path = data_path(files, "interleaving")
    loader = DataLoader.from_params(Params(settings), reader=reader, data_path=path)
    assert sorted(numbers(loader.iter_instances())) == list(range(10))


@DatasetReader.register("tests_readers_in_a_list", exist_ok=True)
class Several(DatasetReader):
    """Somebody's reader of readers."""

    def __init__(self, parts: list[DatasetReader]) -> None:
        super().__init__(max_instances=7)
        self.parts = parts

    def _read(self, file_path: str) -> Iterator[Instance]:
        for part in self.parts:
            yield from part.read(file_path)


def test_readers_in_a_list_of_a_reader_elsewhere(files):
    reader = Several([make(LIMITED, "sharded"), make(LIMITED, "sharded")])
    path = data_path(files, "sharded")
    assert len(numbers(reader.read(path))) == 7
    assert len(numbers(whole(reader).read(path))) == 20
