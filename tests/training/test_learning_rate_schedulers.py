"""Learning rates: `cosine_per_batch` against its formula at every step, `infersent` against the
loop of its training.
"""

import json
import math

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

from allennlp_sentmatch.training.learning_rate_schedulers import MinimumLearningRate
from tests.conftest import train_quick_start

NUM_EPOCHS = 3
NUM_STEPS = 7


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


@pytest.mark.parametrize(
    ("settings", "period"),
    [
        ({}, 21),
        ({"t_initial": 2.5}, 17.5),
    ],
)
def test_the_rate_of_every_batch(settings, period):
    expected = [
        [lr / 2 * (1 + math.cos(math.pi * step / period)) for lr in (0.1, 0.02)]
        for step in range(NUM_EPOCHS * NUM_STEPS)
    ]
    found = rates(*make(**settings))
    torch.testing.assert_close(torch.tensor(found), torch.tensor(expected))
    if period < 21:  # the rates of the last batches rise
        assert found[-1] > found[-2]


ACCURACIES = [0.5, 0.6, 0.6, 0.55, 0.7, 0.2, 0.69, 0.71]


def make_infersent(**settings):
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
    params = Params({"type": "infersent", **settings})
    return optimizer, LearningRateScheduler.from_params(params, optimizer=optimizer)


def rates_before(optimizer, step, values):
    """The learning rates before a step with each of the values."""
    passed = []
    for value in values:
        passed.append(optimizer.param_groups[0]["lr"])
        step(value)
    return passed


def test_the_rates_are_those_of_infersent():
    rate = 0.1
    best = -1.0
    expected = []
    for epoch, accuracy in enumerate(ACCURACIES):
        rate = rate * 0.99 if epoch else rate
        expected.append(rate)
        if accuracy > best:
            best = accuracy
        else:
            rate /= 5
    optimizer, scheduler = make_infersent()
    assert rates_before(optimizer, scheduler.step, ACCURACIES) == pytest.approx(expected)
    assert expected[-1] == pytest.approx(0.1 * 0.99**7 / 5**4)


@pytest.mark.parametrize(
    ("make", "method"),
    [
        (make, "step_batch"),
        (make_infersent, "step"),
    ],
)
def test_a_restored_scheduler_goes_on(make, method):
    optimizer, scheduler = make()
    values = range(1, 9) if method == "step_batch" else ACCURACIES
    whole = rates_before(optimizer, getattr(scheduler, method), values)
    optimizer, scheduler = make()
    rates_before(optimizer, getattr(scheduler, method), values[:3])
    state = scheduler.state_dict()
    optimizer_state = optimizer.state_dict()
    optimizer, scheduler = make()
    optimizer.load_state_dict(optimizer_state)
    scheduler.load_state_dict(state)
    rest = rates_before(optimizer, getattr(scheduler, method), values[3:])
    assert rest == pytest.approx(whole[3:])


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (make, {"t_initial": 0}, "t_initial must be a number above 0; got 0"),
        (make, {"t_initial": -1}, "t_initial"),
        (make, {"num_steps_per_epoch": None}, "batches in an epoch; set batches_per_epoch"),
        (make_infersent, {"decay": 0.0}, "decay must be a number above 0 and at most 1; got 0"),
        (make_infersent, {"decay": 1.1}, "decay"),
        (make_infersent, {"shrink": 0.5}, "shrink must be a number of at least 1; got 0.5"),
        (MinimumLearningRate, {"serialization_dir": "", "minimum": 0}, "a number above 0; got 0"),
    ],
)
def test_impossible_settings(make, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        make(**settings)


@pytest.mark.parametrize(("minimum", "epochs"), [(1e-5, 4), (6e-4, 3)])
def test_training_ends_below_the_minimum(tmp_path, minimum, epochs):
    settings = {
        "num_epochs": 4,
        "optimizer": {"type": "sgd", "lr": 0.1},
        # 0.1, 0.01, 0.001 during the first three epochs; then 0.0001.
        "learning_rate_scheduler": {"type": "infersent", "decay": 0.1, "shrink": 1.0},
        "callbacks": [{"type": "minimum_learning_rate", "minimum": minimum}],
    }
    overrides = {f"trainer.{key}": value for key, value in settings.items()}
    overrides["dataset_reader.max_instances"] = 20
    train_quick_start(tmp_path / "model", **overrides)
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["epoch"] == epochs - 1
    assert (tmp_path / "model" / "model.tar.gz").is_file()


def test_infersent_needs_a_metric():
    _, scheduler = make_infersent()
    with pytest.raises(ConfigurationError, match="'infersent' needs validation data, whose metric"):
        scheduler.step()
