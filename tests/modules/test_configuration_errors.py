"""An adapter takes its module's settings, and its errors name the setting."""

import copy
import inspect
import pickle
from typing import Optional

import pytest
from allennlp.common import FromParams, Lazy, Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules.configuration_errors import configuration_errors, constructs


def test_a_value_error_becomes_a_configuration_error():
    message = "hidden_size must be an integer of at least 1; got 0"
    with pytest.raises(ConfigurationError, match=message) as caught, configuration_errors():
        raise ValueError(message)
    assert isinstance(caught.value.__cause__, ValueError)


def test_other_errors_pass():
    with pytest.raises(KeyError), configuration_errors():
        raise KeyError("hidden_size")


class Plain:
    """Has a width.

    # Raises

    `ValueError`
        If `width` is 0.
    """

    def __init__(self, width: int, names: Optional[set[str]] = None, self_test: bool = False):
        if width == 0:
            raise ValueError("width must not be 0")
        self.settings = (width, names, self_test)


class Holder(FromParams):
    @constructs(Plain)
    def __init__(self, module: Plain) -> None:
        self.module = module


class Heir(Holder):
    pass


@pytest.mark.parametrize("holder", [Holder, Heir])
def test_an_adapter_takes_the_settings_of_its_module(holder):
    assert inspect.signature(holder) == inspect.signature(Plain)
    assert holder(3, self_test=True).module.settings == (3, None, True)
    # A list becomes a set, as the annotation says.
    made = holder.from_params(Params({"width": 3, "names": ["b", "c"]}))
    assert made.module.settings == (3, {"b", "c"}, False)
    lazy = Lazy(holder, params=Params({"self_test": True}))
    assert lazy.construct(width=2).module.settings == (2, None, True)
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again.module.settings == made.module.settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "^width must not be 0$"),
        ({}, '^key "width" is required$'),
        ({"width": 1, "module": 2}, "Extra parameters passed to Holder: {'module': 2}"),
    ],
)
def test_an_adapter_s_errors_name_the_setting(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        Holder.from_params(Params(settings))
    with pytest.raises(TypeError, match="Expected width to be a int"):
        Holder.from_params(Params({"width": 2.5}))


@pytest.mark.parametrize(("width", "problem"), [(3, None), (2, "width of Holder must be 3, .* 2")])
def test_a_number_that_the_model_fills_in(width, problem):
    lazy = Lazy(Holder, params=Params({"width": width}))
    if problem is None:
        assert lazy.construct(width=3).module.settings[0] == 3
        return
    with pytest.raises(ConfigurationError, match=problem):
        lazy.construct(width=3)


def test_the_documentation_of_an_adapter_s_constructor_is_that_of_the_module():
    assert "`ConfigurationError`\n    If `width` is 0." in inspect.getdoc(Holder.__init__)
    assert "`ValueError`" in inspect.getdoc(Plain)
