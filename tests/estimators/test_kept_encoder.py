"""Encoders in scikit-learn's copies of an estimator."""

import threading
from types import SimpleNamespace

import pytest
import sklearn.base
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from allennlp_sentmatch import FineTuning, PairClassifier, PairRegressor, SentenceEncoder
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder

is_kept_itself = pytest.mark.skipif(
    not hasattr(sklearn.base.BaseEstimator, "__sklearn_clone__"),
    reason="scikit-learn before 1.3 keeps it in a SentenceEncoder",
)


class Client:
    """An encoder with a lock, like a client of a server."""

    def __init__(self):
        self.lock = threading.RLock()
        self.network = tiny_encoder()

    def encode(self, sentences):
        with self.lock:
            return self.network.encode(sentences)


@is_kept_itself
def test_an_encoder_that_cannot_be_copied_is_evaluated():
    client = Client()
    plain = SimpleNamespace(encode=client.network.encode)  # this encoder covers no words either
    expected = cross_val_score(PairClassifier(plain, l2=0.1), PAIRS, LABELS, cv=2)
    found = cross_val_score(PairClassifier(client, l2=0.1), PAIRS, LABELS, cv=2)
    assert found.tolist() == pytest.approx(expected.tolist())
    search = GridSearchCV(PairRegressor(client), {"l2": [0.1, 1.0]}, cv=2).fit(PAIRS, SCORES)
    assert search.best_estimator_.encoder is client


@is_kept_itself
@pytest.mark.parametrize("kind", [PairClassifier, PairRegressor])
def test_a_clone_has_the_same_encoder_and_equal_parameters(kind):
    client = Client()
    original = kind(client, matcher="concat", head=FineTuning(num_epochs=1), l2=0.5)
    cloned = clone(original)
    assert cloned is not original
    assert cloned.encoder is original.encoder is client
    assert cloned.head is not original.head
    assert {**cloned.get_params(), "head": None} == {**original.get_params(), "head": None}
    fitted = kind(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS if kind is PairClassifier else SCORES)
    assert not hasattr(clone(fitted), "head_")
    assert fitted.encoder is clone(fitted).encoder


def test_scikit_learn_before_1_3_keeps_encoders_too(monkeypatch):
    """It deep-copies each parameter, and compares the clone's parameters with these copies."""
    monkeypatch.delattr(sklearn.base.BaseEstimator, "__sklearn_clone__", raising=False)
    clone_of_before = getattr(sklearn.base, "_clone_parametrized", clone)
    for encoder in (Client(), SentenceEncoder(Client()), None, "package"):
        original = PairClassifier(encoder, l2=0.5)
        cloned = clone_of_before(original)
        assert cloned.l2 == 0.5
        if isinstance(encoder, Client):
            assert cloned.encoder.network is encoder
        else:
            assert cloned.encoder is encoder
