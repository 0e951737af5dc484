"""The settings of fine-tuning, as scikit-learn uses them."""

import inspect

import numpy
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from allennlp_sentmatch import FineTuning, PairClassifier, PairRegressor
from allennlp_sentmatch.estimators import fine_tuned_head
from tests.estimators.tiny_encoder import LABELS, PAIRS, tiny_encoder


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_epochs": 1.5}, "num_epochs must be an integer from 1 to .*; got 1.5"),
        ({"patience": 0}, "patience must be an integer from 1 to .*; got 0"),
        ({"learning_rate": numpy.inf}, "learning_rate must be a number above 0; got inf"),
        ({"batch_size": None}, "batch_size must be an integer from 1 to .*; got None"),
        ({"batch_size": 10**30}, "batch_size must be an integer from 1 to .*; got 1000"),
        ({"num_epochs": 10**400}, "num_epochs must be an integer from 1 to .*; got 1000"),
        (
            {"validation_fraction": 1},
            "validation_fraction must be a number above 0 and below 1; got 1",
        ),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        FineTuning(**settings).checked()


def test_settings_become_python_s_own():
    checked = FineTuning(num_epochs=numpy.int64(3), learning_rate=numpy.float32(0.5)).checked()
    assert checked.get_params() == FineTuning(num_epochs=3, learning_rate=0.5).get_params()
    assert [type(value) for value in vars(checked).values()] == [int, int, float, int, float]


def test_scikit_learn_reaches_the_settings():
    estimator = PairRegressor(head=FineTuning(num_epochs=3))
    copied = clone(estimator).set_params(head__num_epochs=4, head__patience=1)
    assert copied.get_params()["head__num_epochs"] == 4
    assert estimator.head.num_epochs == 3
    names = [*inspect.signature(PairClassifier).parameters]
    assert names == [*inspect.signature(PairRegressor).parameters, "class_weight"]


def test_a_search_finds_the_number_of_epochs(monkeypatch):
    monkeypatch.setattr(fine_tuned_head, "CLASSIFIER", {"hidden_size": 16})
    head = FineTuning(
        num_epochs=1,
        batch_size=9,
        learning_rate=0.01,
        patience=20,
    )
    estimator = PairClassifier(tiny_encoder(), matcher="symmetric", head=head)
    grid = {"head__num_epochs": [1, 15]}
    search = GridSearchCV(estimator, grid, cv=2, error_score="raise").fit(PAIRS, LABELS)
    assert search.best_params_ == {"head__num_epochs": 15}
    assert head.num_epochs == 1


@pytest.mark.parametrize("kind", [PairClassifier, PairRegressor])
@pytest.mark.parametrize("name", FineTuning().get_params())
def test_settings_of_no_head_are_refused(kind, name):
    setting = {f"head__{name}": 1}
    with pytest.raises(TypeError, match=rf"no head to set head__{name}; set head=FineTuning\(\)"):
        kind().set_params(**setting)
    changed = kind().set_params(head=FineTuning(), **setting)
    assert changed.get_params()[f"head__{name}"] == 1


@pytest.mark.parametrize("kind", [PairClassifier, PairRegressor])
def test_parameters_have_names(kind):
    with pytest.raises(TypeError, match="positional"):
        kind(None, "symmetric")
    with pytest.raises(TypeError, match="positional"):
        FineTuning(3)
