"""Tests of the patches in `compat`; each fails without its patch."""

import json
import pathlib
import pickle
import random
import resource

import numpy
import pytest
import torch
from allennlp.commands.diff import checkpoint_diff
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader, SimpleDataLoader
from allennlp.training import Trainer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from tests.conftest import train_quick_start


def test_reduce_on_plateau_takes_all_its_arguments():
    weight = [("weight", torch.nn.Parameter(torch.zeros(2)))]
    optimizer = Optimizer.from_params(Params({"type": "sgd", "lr": 1.0}), model_parameters=weight)
    arguments = {
        "mode": "max",
        "verbose": True,
        "threshold_mode": "abs",
        "threshold": 0.05,
        "cooldown": 1,
        "min_lr": 0.25,
        "eps": 1e-3,
        "factor": 0.5,
        "patience": 0,
    }
    params = Params({"type": "reduce_on_plateau", **arguments})
    scheduler = LearningRateScheduler.from_params(params, optimizer=optimizer)
    rates = []
    for accuracy in [0.5, 0.54, 0.54, 0.54, 0.54, 0.54, 0.54]:
        scheduler.step(accuracy)
        rates.append(optimizer.param_groups[0]["lr"])
    # 0.04 is too small an improvement; the epoch after each reduction does not count.
    assert rates == [1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    assert scheduler.lr_scheduler.eps == 1e-3


def test_a_training_state_with_a_numpy_number_loads(tmp_path):
    torch.save({"lr": numpy.float64(0.25)}, tmp_path / "training_state.th")
    assert torch.load(tmp_path / "training_state.th")["lr"] == 0.25


class Malicious:
    """Runs a function when it is unpickled."""

    def __reduce__(self):
        return (print, ("this ran while a file was loaded",))


@pytest.mark.skipif(
    not hasattr(torch.serialization, "add_safe_globals"), reason="torch 1.12 loads everything"
)
@pytest.mark.parametrize("content", [Malicious(), pathlib.Path("a"), numpy.zeros(2)])
def test_nothing_else_loads(tmp_path, content, capsys):
    torch.save({"content": content}, tmp_path / "weights.th")
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global"):
        torch.load(tmp_path / "weights.th")
    assert not capsys.readouterr().out


@pytest.fixture
def quick_start(fixtures):
    """A reader of forty pairs, and their file."""
    reader = SentencePairReader("table", sentence1=0, sentence2=1, label=2, max_instances=40)
    return reader, str(fixtures / "quick_start" / "test.tsv")


@pytest.mark.parametrize(
    ("start_method", "max_instances_in_memory"),
    [("fork", None), ("fork", 10), ("forkserver", 10)],  # with 10 they make batches, too
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
    loader = MultiProcessDataLoader(*quick_start, batch_size=8, shuffle=True, **workers)
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    orders = []
    for seed in (1, 1, 2):
        random.seed(seed)
        orders.append([pair["premise"] for batch in loader for pair in batch["metadata"]])
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize("lazy", [{}, {"max_instances_in_memory": 400}])  # instances, batches
def test_workers_hand_over_more_tensors_than_there_may_be_open_files(write, lazy):
    """A score is a tensor, and a batch has several."""
    file = write("".join(f"a\tb\t{i / 100}\n" for i in range(400)))
    reader = SentencePairReader("table", sentence1=0, sentence2=1, label=None, score=2)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        loader = MultiProcessDataLoader(reader, str(file), batch_size=2, num_workers=1, **lazy)
        loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
        batches = list(loader)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    scores = torch.cat([batch["score"] for batch in batches])
    assert scores.tolist() == pytest.approx([i / 100 for i in range(400)])


def test_the_best_weights_where_validations_are_left_out(tmp_path):
    data = "fixtures/quick_start/test.tsv"
    interval = {"type": "should_validate_callback", "validation_interval": 2}  # the first epoch
    overrides = {
        "test_data_path": data,
        "evaluate_on_test": True,
        "trainer.callbacks": [interval],
        "trainer.num_epochs": 2,
        "trainer.validation_metric": "-loss",
    }
    train_quick_start(tmp_path / "out", **overrides)
    figures = json.loads((tmp_path / "out/metrics.json").read_text())
    assert figures["best_epoch"] == 0
    assert figures["test_loss"] == pytest.approx(figures["best_validation_loss"])


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


@pytest.mark.parametrize("kind", ["gradient_descent", "bfloat16"])
def test_a_misspelt_setting_of_the_trainer_is_refused(kind):
    loader = SimpleDataLoader([], batch_size=1)
    parts = {"model": torch.nn.Linear(1, 1), "data_loader": loader, "serialization_dir": None}
    assert Trainer.from_params(Params({"type": kind, "num_epochs": 3}), **parts)
    message = "^the trainer .* has no setting 'num_epoch': did you mean 'num_epochs'"
    with pytest.raises(ConfigurationError, match=message):
        Trainer.from_params(Params({"type": kind, "num_epoch": 3}), **parts)


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
