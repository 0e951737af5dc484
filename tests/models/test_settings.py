"""Every setting of every configuration in fixtures/models with invalid values."""

import copy
import itertools
import signal

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.models import Model

from tests.models.samples import sample
from tests.models.test_every_model import MODELS

OTHER_NAMES = ("is required", "has no setting", "x not in", "input_size", "rate is", "grades need")
"""Words in errors that name a part of the setting, or its possible values."""

VALUES = (None, True, -1, 0, 10**7, 1.5, float("nan"), [], {}, "x")


def paths(settings, path=()):
    """The places of all settings except names of types."""
    for key, value in settings.items():
        if key != "type":
            yield *path, key
        if isinstance(value, dict):
            yield from paths(value, (*path, key))


def changed(settings, path, value):
    settings = copy.deepcopy(settings)
    section = settings
    for key in path[:-1]:
        section = section[key]
    before = section[path[-1]]
    section[path[-1]] = value
    return settings, before


def messages(error):
    while error is not None:
        yield str(error)
        error = error.__cause__


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [x for x in MODELS if not x.startswith("lstmn_classifier_")])
def test_a_model_or_an_error_that_names_the_setting(name, every):
    """Attack 16: such values led to errors of Python and torch, cost memory and minutes, or were
    accepted.
    """

    combinations = list(itertools.product(paths(sample(name).config["model"]), VALUES))
    for path, value in combinations[::every]:
        check(name, path, value)


def check(name, path, value):
    settings, before = changed(sample(name).config["model"], path, value)
    error = error_of(settings, sample(name).vocab)
    if error is not None:
        text = " ".join(messages(error))
        assert any(one in text for one in (*path[-2:], *OTHER_NAMES)), (path, value, text)
        return
    kinds = {
        bool: (bool,),
        int: (int, float),
        float: (int, float),
        str: (str, dict),
    }
    is_same_kind = type(value) in kinds.get(type(before), (type(before),))
    assert is_same_kind or value is None or value == 0, (path, value)
    assert value == value, path  # not NaN


def error_of(settings, vocab):
    """The error of making a model in five seconds, or `None`."""

    def too_slow(*_):
        raise AssertionError("longer than five seconds")

    signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(5)
    try:
        Model.from_params(Params(settings), vocab=vocab)
    except ConfigurationError as error:
        return error
    finally:
        signal.alarm(0)
    return None
