"""InferSent's learning rate, against the loop of its training."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

ACCURACIES = [0.5, 0.6, 0.6, 0.55, 0.7, 0.2, 0.69, 0.71]


def make(**settings):
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
    params = Params({"type": "infersent", **settings})
    return optimizer, LearningRateScheduler.from_params(params, optimizer=optimizer)


def rates(optimizer, scheduler, accuracies):
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
    assert rates(*make(), ACCURACIES) == pytest.approx(expected)
    assert expected[-1] == pytest.approx(0.1 * 0.99**7 / 5**4)


def test_settings():
    found = rates(*make(decay=0.5, shrink=10), [0.2, 0.3, 0.3, 0.4])
    assert found == pytest.approx([0.1, 0.05, 0.025, 0.00125])


def test_a_restored_scheduler_goes_on():
    optimizer, scheduler = make()
    whole = rates(optimizer, scheduler, ACCURACIES)
    optimizer, scheduler = make()
    rates(optimizer, scheduler, ACCURACIES[:3])
    state, optimizer_state = scheduler.state_dict(), optimizer.state_dict()
    optimizer, scheduler = make()
    optimizer.load_state_dict(optimizer_state)
    scheduler.load_state_dict(state)
    assert rates(optimizer, scheduler, ACCURACIES[3:]) == pytest.approx(whole[3:])


def test_validation_data_are_needed():
    with pytest.raises(ConfigurationError, match="needs validation data"):
        make()[1].step()


@pytest.mark.parametrize("settings", [{"decay": 0.0}, {"decay": 1.1}, {"shrink": 0.5}])
def test_impossible_settings(settings):
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        make(**settings)
