"""Tests of the patches in `training_compat`; each fails without its patch."""

import json
import pathlib
import pickle

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.nn.regularizers.regularizers import L2Regularizer
from allennlp.training import Trainer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.metric_tracker import MetricTracker
from allennlp.training.optimizers import Optimizer

from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from tests.conftest import train_quick_start


def plateau(**settings):
    """The scheduler `reduce_on_plateau` of a learning rate that begins at 1.0."""
    weight = [("weight", torch.nn.Parameter(torch.zeros(2)))]
    optimizer = Optimizer.from_params(Params({"type": "sgd", "lr": 1.0}), model_parameters=weight)
    params = Params({"type": "reduce_on_plateau", **settings})
    return LearningRateScheduler.from_params(params, optimizer=optimizer)


def rates_after(scheduler, metrics):
    """The learning rate after each validation."""
    rates = []
    for metric in metrics:
        scheduler.step(metric)
        rates.append(scheduler.lr_scheduler.optimizer.param_groups[0]["lr"])
    return rates


def test_reduce_on_plateau_takes_all_its_arguments():
    scheduler = plateau(
        mode="max",
        verbose=True,
        threshold_mode="abs",
        threshold=0.05,
        cooldown=1,
        min_lr=0.25,
        eps=1e-3,
        factor=0.5,
        patience=0,
    )
    rates = rates_after(scheduler, [0.5, 0.54, 0.54, 0.54, 0.54, 0.54, 0.54])
    # 0.04 is too small an improvement; the epoch after each reduction does not count.
    assert rates == [1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    assert scheduler.lr_scheduler.eps == 1e-3


@pytest.mark.parametrize(("mode", "last"), [({}, 0.25), ({"mode": "max"}, 1.0)], ids=str)
def test_reduce_on_plateau_in_the_mode_min(caplog, mode, last):
    """Its learning rate falls with a loss that falls, whose sign the trainer changes."""
    tracker = MetricTracker("-loss")
    metrics = [tracker.combined_score({"loss": loss}) for loss in (0.9, 0.8, 0.7)]
    assert rates_after(plateau(factor=0.5, patience=0, **mode), metrics)[-1] == last
    assert ("set the scheduler's mode to 'max'" in caplog.text) == (last < 1.0)


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


@pytest.mark.parametrize("kind", ["gradient_descent", "bfloat16"])
def test_a_misspelt_setting_of_the_trainer_is_refused(kind):
    loader = SimpleDataLoader([], batch_size=1)
    parts = {
        "model": torch.nn.Linear(1, 1),
        "data_loader": loader,
        "serialization_dir": None,
    }
    assert Trainer.from_params(Params({"type": kind, "num_epochs": 3}), **parts)
    message = "^the trainer .* has no setting 'num_epoch': did you mean 'num_epochs'"
    with pytest.raises(ConfigurationError, match=message):
        Trainer.from_params(Params({"type": kind, "num_epoch": 3}), **parts)


@pytest.mark.parametrize(
    ("no_grad", "penalized", "warned"),
    [
        (["^weight$"], ["bias"], []),
        (["wieght"], [], ["no_grad: no parameter's name has 'wieght'"]),
        ([], [r"encoder\."], [r"regularizer: no parameter's name has 'encoder\\.'"]),
    ],
    ids=["used", "no_grad", "regularizer"],
)
def test_expressions_without_effect_are_named(no_grad, penalized, warned, caplog):
    model = torch.nn.Linear(1, 1)
    penalties = [(expression, L2Regularizer()) for expression in penalized]
    model._regularizer = ModelRegularizer(penalties)
    Trainer.from_params(
        Params({"no_grad": no_grad}),
        model=model,
        data_loader=SimpleDataLoader([], batch_size=1),
        serialization_dir=None,
    )
    found = [record.getMessage() for record in caplog.records if "no effect" in record.message]
    assert len(found) == len(warned)
    assert all(message.startswith(start) for message, start in zip(found, warned))


@pytest.mark.parametrize(
    ("scheduler", "warned"),
    [
        ({"type": "constant_with_warmup", "num_warmup_steps": 100}, True),
        ({"type": "linear_with_warmup", "warmup_steps": 100}, False),
        ({"type": "exponential", "gamma": 0.5}, False),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_a_first_epoch_without_learning_is_named(scheduler, warned, caplog):
    trainer = Trainer.from_params(
        Params({"num_epochs": 3, "learning_rate_scheduler": scheduler}),
        model=torch.nn.Linear(1, 1),
        data_loader=SimpleDataLoader([1, 2, 3], batch_size=1),
        serialization_dir=None,
    )
    trainer._learning_rate_scheduler.step_batch(1)  # before the first update
    assert (trainer.optimizer.param_groups[0]["lr"] == 0) == warned
    assert ("the learning rate of the whole first epoch is 0" in caplog.text) == warned
