"""Learning rates: `cosine_per_batch` against its formula at every step, `infersent` against the
loop of its training.
"""

import math

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training import TrainerCallback
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

import allennlp_sentmatch  # noqa: F401  (registers the components)
from tests.conftest import REPOSITORY
from tests.training.recovery import assert_same_outcome, params

NUM_EPOCHS, NUM_STEPS = 3, 7


def make(**settings):
    model = torch.nn.Linear(1, 1)
    groups = [{"params": [model.weight], "lr": 0.1}, {"params": [model.bias], "lr": 0.02}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    params = Params({"type": "cosine_per_batch", **settings})
    extras = {"num_epochs": NUM_EPOCHS, "num_steps_per_epoch": NUM_STEPS}
    return optimizer, LearningRateScheduler.from_params(params, optimizer=optimizer, **extras)


def rates(optimizer, scheduler, num_epochs=NUM_EPOCHS):
    """Both groups' learning rates in each batch."""
    passed = []
    for _ in range(num_epochs):
        for _ in range(NUM_STEPS):
            passed.append([group["lr"] for group in optimizer.param_groups])
            scheduler.step_batch()
        scheduler.step(0.5)
    return passed


@pytest.mark.parametrize(("settings", "period"), [({}, 21), ({"t_initial": 2.5}, 17.5)])
def test_the_rate_of_every_batch(settings, period):
    expected = [
        [lr / 2 * (1 + math.cos(math.pi * step / period)) for lr in (0.1, 0.02)]
        for step in range(NUM_EPOCHS * NUM_STEPS)
    ]
    found = rates(*make(**settings))
    torch.testing.assert_close(torch.tensor(found), torch.tensor(expected))
    if period < 21:  # the rates of the last batches rise
        assert found[-1] > found[-2]


def test_the_last_step_ends_at_zero():
    optimizer, scheduler = make()
    rates(optimizer, scheduler)
    assert [group["lr"] for group in optimizer.param_groups] == [0.0, 0.0]


@TrainerCallback.register("tests_rates")
class Rates(TrainerCallback):
    """Keeps the learning rate after each batch; interrupts training after `batches_left`."""

    passed: list[float] = []
    batches_left = math.inf

    def on_batch(self, trainer, *args, is_training, **kwargs):
        if is_training:
            Rates.passed.append(trainer.optimizer.param_groups[0]["lr"])
            Rates.batches_left -= 1
            if Rates.batches_left == 0:
                raise InterruptedError


@pytest.mark.parametrize(
    ("save_every", "interrupted_at", "kept"), [(None, 8, 6), (2, 9, 8)], ids=["epoch", "batch"]
)
def test_a_recovered_training_has_the_rate_of_every_batch_and_the_same_outcome(
    save_every, interrupted_at, kept, tmp_path, monkeypatch
):
    """Of four batches, three make an epoch, as where a pass has several validations."""
    monkeypatch.chdir(REPOSITORY)
    settings = params(
        "quick_start",
        num_epochs=4,
        optimizer={"type": "adam", "lr": 0.01},
        learning_rate_scheduler="cosine_per_batch",
        checkpointer={"save_every_num_batches": save_every},
        callbacks=["tests_rates"],
    )
    settings.params["validation_data_loader"] = dict(settings.params["data_loader"])
    settings.params["data_loader"]["batches_per_epoch"] = 3
    monkeypatch.setattr(Rates, "passed", [])
    monkeypatch.setattr(Rates, "batches_left", interrupted_at)
    with pytest.raises(InterruptedError):
        train_model(settings.duplicate(), str(tmp_path / "broken"))
    assert len(Rates.passed) == interrupted_at
    del Rates.passed[kept:]  # after the latest checkpoint
    train_model(settings.duplicate(), str(tmp_path / "broken"), recover=True)
    expected = [0.005 * (1 + math.cos(math.pi * step / 12)) for step in range(1, 13)]
    assert Rates.passed == pytest.approx(expected, abs=1e-12)
    train_model(settings.duplicate(), str(tmp_path / "whole"))
    assert_same_outcome(
        tmp_path / "broken", tmp_path / "whole", training_metrics=save_every is None
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"t_initial": 0}, "t_initial must be a positive number, got 0"),
        ({"t_initial": -1}, "t_initial"),
        ({"num_steps_per_epoch": None}, "needs the number of batches in an epoch; set batches_per"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        make(**settings)


ACCURACIES = [0.5, 0.6, 0.6, 0.55, 0.7, 0.2, 0.69, 0.71]


def make_infersent(**settings):
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
    params = Params({"type": "infersent", **settings})
    return optimizer, LearningRateScheduler.from_params(params, optimizer=optimizer)


def infersent_rates(optimizer, scheduler, accuracies):
    """The learning rates of the epochs."""
    passed = []
    for accuracy in accuracies:
        passed.append(optimizer.param_groups[0]["lr"])
        scheduler.step(accuracy)
    return passed


def test_the_rates_are_those_of_infersent():
    rate, best, expected = 0.1, -1.0, []
    for epoch, accuracy in enumerate(ACCURACIES):
        rate = rate * 0.99 if epoch else rate
        expected.append(rate)
        if accuracy > best:
            best = accuracy
        else:
            rate /= 5
    assert infersent_rates(*make_infersent(), ACCURACIES) == pytest.approx(expected)
    assert expected[-1] == pytest.approx(0.1 * 0.99**7 / 5**4)


def test_settings():
    found = infersent_rates(*make_infersent(decay=0.5, shrink=10), [0.2, 0.3, 0.3, 0.4])
    assert found == pytest.approx([0.1, 0.05, 0.025, 0.00125])


def test_a_restored_scheduler_goes_on():
    optimizer, scheduler = make_infersent()
    whole = infersent_rates(optimizer, scheduler, ACCURACIES)
    optimizer, scheduler = make_infersent()
    infersent_rates(optimizer, scheduler, ACCURACIES[:3])
    state, optimizer_state = scheduler.state_dict(), optimizer.state_dict()
    optimizer, scheduler = make_infersent()
    optimizer.load_state_dict(optimizer_state)
    scheduler.load_state_dict(state)
    assert infersent_rates(optimizer, scheduler, ACCURACIES[3:]) == pytest.approx(whole[3:])


def test_validation_data_are_needed():
    with pytest.raises(ConfigurationError, match="needs validation data"):
        make_infersent()[1].step()


@pytest.mark.parametrize("settings", [{"decay": 0.0}, {"decay": 1.1}, {"shrink": 0.5}])
def test_impossible_settings_of_infersent(settings):
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        make_infersent(**settings)
