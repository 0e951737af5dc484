"""AllenNLP's readers of readers with this package's: limits, and the shares of processes."""

import json
from collections import Counter

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, DatasetReader, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import DistributedInfo, WorkerInfo
from allennlp.data.instance import Instance

from allennlp_sentmatch.data.evaluation import evaluation_loader, whole

PAIRS = {"type": "sentence_pair", "format": "table", "sentence1": 0, "sentence2": 1, "label": 2}
LIMITED = {**PAIRS, "max_instances": 2}


@pytest.fixture
def files(write):
    """Two files of five pairs, each of which begins with its number."""
    rows = [f"{number} a\tb\tyes\n" for number in range(10)]
    write("".join(rows[:5]), "shards/a.tsv")
    return write("".join(rows[5:]), "shards/b.tsv").parent


def make(base, kind):
    """A reader of readers over `base`."""
    parts = {"sharded": {"base_reader": base}}
    readers = {"readers": {"a": base, "b": base}}
    settings = {"type": kind, **parts.get(kind, readers)}
    return DatasetReader.from_params(Params(json.loads(json.dumps(settings))))


def data_path(files, kind):
    if kind == "sharded":
        return str(files / "*.tsv")
    return {name: str(files / f"{name}.tsv") for name in "ab"}


def numbers(examples):
    return [int(example.fields["metadata"].metadata["premise"].split()[0]) for example in examples]


@pytest.mark.parametrize("kind", ["sharded", "interleaving"])
def test_limits_within_are_removed(files, kind):
    path = data_path(files, kind)
    reader = make(LIMITED, kind)
    assert len(numbers(reader.read(path))) == 4
    assert sorted(numbers(whole(reader).read(path))) == list(range(10))
    assert len(numbers(reader.read(path))) == 4  # the reader for training keeps its limit


def test_limits_within_a_reader_within_a_reader(files):
    inner = {"type": "sharded", "base_reader": LIMITED}
    reader = whole(make({**inner, "max_instances": 3}, "interleaving"))
    path = {name: str(files / f"{name}*") for name in "ab"}
    assert sorted(numbers(reader.read(path))) == list(range(10))


SCHEDULER = {"type": "roundrobin", "batch_size": 4, "drop_last": True}


def test_every_example_of_all_tasks(files):
    """Examples that the training's loader leaves out are included, in the files' order."""
    settings = {"type": "multitask", "scheduler": SCHEDULER}
    reader = whole(make(LIMITED, "multitask"))
    loader = evaluation_loader(Params(settings), reader, data_path(files, "multitask"))
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    read = [pair["premise"].split()[0] for batch in loader for pair in batch["metadata"]]
    assert read == ["0", "5", "1", "6", "2", "7", "3", "8", "4", "9"]


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
    settings = {"batch_size": 3, "num_workers": 2, "quiet": True}
    loader = DataLoader.from_params(
        Params(settings), reader=make(PAIRS, "interleaving"), data_path=data_path(files, "b")
    )
    assert sorted(numbers(loader.iter_instances())) == list(range(10))


def test_readers_in_a_list_of_a_reader_elsewhere(files):
    @DatasetReader.register("tests_readers_in_a_list", exist_ok=True)
    class Several(DatasetReader):
        def __init__(self, parts: list[DatasetReader]) -> None:
            super().__init__(max_instances=7)
            self.parts = parts

        def _read(self, file_path: str) -> list[Instance]:
            return [one for part in self.parts for one in part.read(file_path)]

    reader = Several([make(LIMITED, "sharded"), make(LIMITED, "sharded")])
    path = data_path(files, "sharded")
    assert len(numbers(reader.read(path))) == 7
    assert len(numbers(whole(reader).read(path))) == 20
