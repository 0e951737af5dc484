"""Tests of the patches in `compat`; each fails without its patch."""

import random
import resource
from itertools import chain

import pytest
import torch
from allennlp.commands.diff import checkpoint_diff
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader, MultiTaskDataLoader
from allennlp.data.data_loaders.multitask_epoch_sampler import WeightedSampler
from allennlp.data.data_loaders.multitask_scheduler import HomogeneousRoundRobinScheduler
from allennlp.data.dataset_readers import MultiTaskDatasetReader
from allennlp.data.samplers import MaxTokensBatchSampler

from allennlp_sentmatch.data.dataset_readers import SentencePairReader


@pytest.fixture
def quick_start(fixtures):
    """A reader of forty pairs, and their file."""
    reader = SentencePairReader(
        "table",
        sentence1=0,
        sentence2=1,
        label=2,
        max_instances=40,
    )
    return reader, str(fixtures / "quick_start" / "test.tsv")


@pytest.mark.parametrize(
    ("start_method", "max_instances_in_memory"),
    [
        ("fork", None),
        ("fork", 10),
        ("forkserver", 10),
    ],  # with 10 they make batches, too
)
def test_workers_of_either_start_method_read_the_data(
    quick_start, start_method, max_instances_in_memory
):
    """A worker of a fork server imports the package for itself, as one that is spawned.

    The server of tests/fresh_process.py has imported the libraries that AllenNLP needs.
    """
    loader = MultiProcessDataLoader(
        *quick_start,
        batch_size=8,
        num_workers=1,
        max_instances_in_memory=max_instances_in_memory,
        start_method=start_method,
    )
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    assert sum(len(batch["label"]) for batch in loader) == 40


def test_a_worker_shuffles_by_the_seed(quick_start):
    workers = {"num_workers": 1, "max_instances_in_memory": 40}
    loader = MultiProcessDataLoader(
        *quick_start,
        batch_size=8,
        shuffle=True,
        **workers,
    )
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    orders = []
    for seed in (1, 1, 2):
        random.seed(seed)
        orders.append([pair["premise"] for batch in loader for pair in batch["metadata"]])
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize("weights", [{"a": 1.0, "b": 1.0}, {"a": 3.0, "b": 1.0}])
@pytest.mark.parametrize("num_examples", [16, 21])
def test_the_batches_of_some_examples_of_each_task_are_counted(quick_start, weights, num_examples):
    """AllenNLP counted `num_examples` of each task."""
    reader, path = quick_start
    tasks = MultiTaskDatasetReader({"a": reader, "b": reader})
    loader = MultiTaskDataLoader(
        tasks,
        {"a": path, "b": path},
        HomogeneousRoundRobinScheduler(4),
        sampler=WeightedSampler(weights),
        instances_per_epoch=num_examples,
    )
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    assert len(loader) == len([*loader])


@pytest.mark.parametrize("max_tokens", [1, 6])
def test_texts_longer_than_a_batch_are_batches(quick_start, max_tokens):
    reader, path = quick_start
    instances = [pair for pair in reader.read(path) if len(pair["premise"]) > 6]
    sampler = MaxTokensBatchSampler(max_tokens, padding_noise=0)
    batches = list(sampler.get_batch_indices(instances))
    assert sorted(chain.from_iterable(batches)) == list(range(len(instances)))
    assert all(batches)
    assert sampler.get_num_batches(instances) == len(batches)


@pytest.mark.parametrize(
    "lazy",
    [
        {},
        {"max_instances_in_memory": 400},
    ],
)  # instances, batches
def test_workers_hand_over_more_tensors_than_there_may_be_open_files(write, lazy):
    """A score is a tensor, and a batch has several."""
    file = write("".join(f"a\tb\t{i / 100}\n" for i in range(400)))
    reader = SentencePairReader(
        "table",
        sentence1=0,
        sentence2=1,
        label=None,
        score=2,
    )
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        loader = MultiProcessDataLoader(
            reader,
            str(file),
            batch_size=2,
            num_workers=1,
            **lazy,
        )
        loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
        batches = list(loader)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    scores = torch.cat([batch["score"] for batch in batches])
    assert scores.tolist() == pytest.approx([i / 100 for i in range(400)])


def test_a_vocabulary_s_file_may_have_any_line_end(tmp_path):
    vocab = Vocabulary(tokens_to_add={"tokens": ["a", "\r", "b"]})
    vocab.save_to_files(tmp_path / "vocabulary")
    tokens = vocab.get_token_to_index_vocabulary()
    read = Vocabulary.from_files(tmp_path / "vocabulary").get_token_to_index_vocabulary
    assert read() == tokens
    file = tmp_path / "vocabulary/tokens.txt"
    file.write_bytes(b"@@UNKNOWN@@\r\na\r\nb\r\n")
    assert list(Vocabulary.from_files(tmp_path / "vocabulary").get_token_to_index_vocabulary()) == [
        "@@PADDING@@", "@@UNKNOWN@@", "a", "b"
    ]  # fmt: skip


def test_archives_are_compressed_with_gzips_own_level(small_archive):
    assert small_archive.read_bytes()[8] == 0  # RFC 1952: 2 would be the slowest level, 9


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        (3, 3, None),
        (3, 5, 2.0),
        (True, True, None),
        (True, False, 1.0),
        (0.5, 0.25, 0.25),
        (torch.nan, torch.nan, None),
        (torch.nan, 0.0, torch.inf),
        (torch.inf, torch.inf, None),
    ],
)
def test_diff_compares_buffers(first, second, distance):
    states = [{"buffer": torch.tensor(value)} for value in (first, second)]
    (step,) = checkpoint_diff(*states, scale=1.0, threshold=1e-5)
    assert getattr(step, "distance", None) == distance
