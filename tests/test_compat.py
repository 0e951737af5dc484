"""Tests of the patches in `compat`; each fails without its patch."""

import pathlib
import pickle

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader, SimpleDataLoader
from allennlp.data.samplers import BucketBatchSampler, MaxTokensBatchSampler
from allennlp.training import Trainer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer

from allennlp_sentmatch.data.dataset_readers import SentencePairReader


@pytest.fixture
def optimizer():
    parameter = torch.nn.Parameter(torch.zeros(2))
    return Optimizer.from_params(
        Params({"type": "sgd", "lr": 1.0}), model_parameters=[("weight", parameter)]
    )


def test_reduce_on_plateau_halves_the_learning_rate(optimizer):
    params = Params({"type": "reduce_on_plateau", "mode": "max", "factor": 0.5, "patience": 0})
    scheduler = LearningRateScheduler.from_params(params, optimizer=optimizer)
    for accuracy in [0.7, 0.8, 0.8, 0.9]:
        scheduler.step(accuracy)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_reduce_on_plateau_takes_all_its_arguments(optimizer):
    arguments = {
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
    for loss in [1.0, 0.96, 0.96, 0.96, 0.96, 0.96, 0.96]:
        scheduler.step(loss)
    assert optimizer.param_groups[0]["lr"] == 0.25  # 0.04 is too small an improvement; then min_lr
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


@pytest.mark.parametrize(
    ("start_method", "max_instances_in_memory"),
    [("fork", None), ("fork", 10), ("spawn", 10)],  # with 10 they make batches, too
)
def test_workers_of_either_start_method_read_the_data(
    fixtures, start_method, max_instances_in_memory
):
    loader = MultiProcessDataLoader(
        SentencePairReader(format="table", sentence1=0, sentence2=1, label=2, max_instances=40),
        str(fixtures / "quick_start" / "test.tsv"),
        batch_size=8,
        num_workers=1,
        max_instances_in_memory=max_instances_in_memory,
        start_method=start_method,
    )
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    assert sum(len(batch["label"]) for batch in loader) == 40


def test_no_random_numbers_are_drawn_where_no_batch_can_be_left_out(fixtures):
    reader = SentencePairReader("table", sentence1=0, sentence2=1, label=2, max_instances=40)
    sampler = MaxTokensBatchSampler(max_tokens=99, padding_noise=0.1)
    state = torch.get_rng_state()
    data = str(fixtures / "quick_start" / "test.tsv")
    MultiProcessDataLoader(reader, data, batch_sampler=sampler)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize("in_buckets", [False, True])
def test_data_of_which_drop_last_leaves_no_batch_are_refused(fixtures, lazily, in_buckets):
    def load(batch_size):
        reader = SentencePairReader(
            format="table", sentence1=0, sentence2=1, label=2, max_instances=40
        )
        batches = {"batch_size": batch_size, "drop_last": True}
        if in_buckets:
            batches = {"batch_sampler": BucketBatchSampler(**batches)}
        data = str(fixtures / "quick_start" / "test.tsv")
        limit = {"max_instances_in_memory": 50} if lazily else {}
        loader = MultiProcessDataLoader(reader, data, **batches, **limit)
        loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
        return [len(batch["label"]) for batch in loader]

    assert load(40) == [40]
    with pytest.raises(ConfigurationError, match=r"test\.tsv: drop_last leaves no batch of 41"):
        load(41)


@pytest.mark.parametrize("kind", ["gradient_descent", "bfloat16"])
def test_a_misspelt_setting_of_the_trainer_is_refused(kind):
    loader = SimpleDataLoader([], batch_size=1)
    parts = {"model": torch.nn.Linear(1, 1), "data_loader": loader, "serialization_dir": None}
    assert Trainer.from_params(Params({"type": kind, "num_epochs": 3}), **parts)
    message = "^the trainer .* has no setting 'num_epoch': did you mean 'num_epochs'"
    with pytest.raises(ConfigurationError, match=message):
        Trainer.from_params(Params({"type": kind, "num_epoch": 3}), **parts)
