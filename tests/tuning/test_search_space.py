"""Values come from the distributions of a space that fits its configuration."""

import json
import sys

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.tuning import SearchSpace

optuna = pytest.importorskip("optuna")

CONFIGURATION = {
    "model": {"type": "siamese_classifier", "encoder": {"hidden_size": 5}, "layers": [{"p": 0.1}]},
    "trainer": {"optimizer": {"type": "adam", "lr": 0.001}},
}
CHOICES = {"type": "categorical", "choices": [1, 2]}


def test_values_come_from_the_distributions():
    space = SearchSpace(
        {
            "trainer.optimizer.lr": {"type": "float", "low": 1e-5, "high": 1e-3, "log": True},
            "model.encoder.hidden_size": {"type": "int", "low": 4, "high": 8, "step": 2},
            "model.layers.0.p": {"type": "categorical", "choices": [0.1, None]},
        }
    )
    space.check(CONFIGURATION)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    drawn = [study.ask(space.distributions).params for _ in range(20)]
    assert {values["model.encoder.hidden_size"] for values in drawn} == {4, 6, 8}
    assert {values["model.layers.0.p"] for values in drawn} == {0.1, None}
    rates = [values["trainer.optimizer.lr"] for values in drawn]
    assert all(1e-5 <= rate <= 1e-3 for rate in rates)
    assert min(rates) < 1e-4  # drawn from the logarithm
    assert space.overrides(drawn[0]) == drawn[0]
    assert space.grid() is None


def test_a_choice_with_a_name_overrides_several_settings():
    adam = {"type": "adam", "lr": 0.1}
    choices = {
        "small": {"model.encoder.hidden_size": 2, "trainer.optimizer.lr": 0.5},
        "Adam": {"trainer.optimizer.type": "sgd"},
    }
    space = SearchSpace({"recipe": {"type": "categorical", "choices": choices}})
    space.check(CONFIGURATION)
    assert space.grid() == {"recipe": ["small", "Adam"]}
    assert space.overrides({"recipe": "small"}) == choices["small"]
    with pytest.raises(ConfigurationError, match=r"give other choices names, as in .*trainer\.opt"):
        SearchSpace({"trainer.optimizer": {"type": "categorical", "choices": [adam]}})


NAMED = {"type": "categorical", "choices": {"one": {"model.encoder.hiden_size": 1}}}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("size", r"size: .* 'model\.encoder\.hiden_size'; model\."),
        ("model.dropout", r"no setting 'model\.dropout'; model has type, encoder, layers\. "),
        ("modle.dropout", r"no setting 'modle\.dropout'; its top level has model, trainer\. "),
        ("model.layers.1.p", r"model\.layers has 0\. "),
        ("model.type.p", r"model\.type has no settings\. .* with --overrides"),
        ("model.enc", r"model has type, encoder, layers\. "),
    ],
)
def test_a_setting_that_the_configuration_lacks(name, message):
    with pytest.raises(ConfigurationError, match=message):
        SearchSpace({name: NAMED if name == "size" else CHOICES}).check(CONFIGURATION)


@pytest.mark.parametrize("inner_first", [False, True])
def test_two_parameters_for_one_setting(inner_first):
    parameters = {
        "optimizer": {"type": "categorical", "choices": {"a": {"trainer.optimizer": {}}}},
        "trainer.optimizer.lr": CHOICES,
    }
    if inner_first:
        parameters = dict(reversed(parameters.items()))
    with pytest.raises(ConfigurationError, match=r"both override trainer\.optimizer\.lr$"):
        SearchSpace(parameters).check(CONFIGURATION)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"type": "real", "low": 0, "high": 1},
            "a: a parameter must be an object of type float or int or",
        ),
        ([0.1, 0.2], r"a: .* an object .* got \[0\.1, 0\.2\]"),
        ({"type": "float", "low": 0, "hihg": 1}, "a: .*'hihg'"),
        ({"type": "float", "low": 2, "high": 1}, "a: .*low"),
        ({"type": "float", "low": 0, "high": 1, "log": True}, r"a: .*log=True"),
        ({"type": "categorical", "choices": []}, "a: .*choices"),
        (
            {"type": "categorical", "choices": {"b": 1}},
            "a: .*named ones, each an object of overrides",
        ),
        ({"type": "categorical", "choices": "abc"}, "a: .*choices must be a list, or an object"),
        ({"type": "categorical", "choices": [1, 0.5, True]}, "a: .*two choices are equal"),
        ({"type": ["float"], "low": 1, "high": 2}, "a: .*of type float or int or categorical"),
        ({"type": "float", "low": "1", "high": 2}, "a: .*low must be a number, or null; got '1'"),
        (
            {"type": "float", "low": 10**400, "high": 10**401},
            "a: low must be a number, or null; got 10",
        ),
        ({"type": "int", "low": 1, "high": 2.5}, "a: .*high must be an integer, or null; got 2.5"),
        ({"type": "float", "low": 1, "high": 2, "log": "no"}, "a: .*log must be true .*; got 'no'"),
    ],
)
def test_parameters_that_are_not_accepted(values, message):
    with pytest.raises(ConfigurationError, match=message):
        SearchSpace({"a": values})


def test_files_are_jsonnet(tmp_path):
    file = tmp_path / "space.jsonnet"
    file.write_text("{ ['a.%d' % i]: { type: 'int', low: 1, high: 1 + 1 } for i in [0] }")
    assert SearchSpace.from_file(file).parameters == {"a.0": {"type": "int", "low": 1, "high": 2}}
    # The form of the plugin allennlp-optuna.
    file.write_text(json.dumps([{"type": "int", "attributes": {"name": "a", "low": 1}}]))
    with pytest.raises(ConfigurationError, match=r"space\.jsonnet: expected an object with a key"):
        SearchSpace.from_file(file)
    file.write_text("{}")
    with pytest.raises(ConfigurationError, match=r"space\.jsonnet: the search space has no param"):
        SearchSpace.from_file(file)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before, jsonnet's error has no message")
def test_a_file_is_in_utf_8(write):
    file = write(b'{"a": 1e\x80}', "space.jsonnet")
    with pytest.raises(ConfigurationError, match=r"space\.jsonnet is not JSON or Jsonnet in UTF-8"):
        SearchSpace.from_file(file)
