"""Fine-tuning trains a copy of the encoder, for every matcher, type of label and seed."""

import contextlib
import copy
import warnings
from types import SimpleNamespace
from unittest import mock

import numpy
import pytest
import torch

from allennlp_sentmatch import FineTuning, PairClassifier, PairRegressor, SentenceEncoder
from allennlp_sentmatch.estimators import fine_tuned_head, fine_tuning_run
from allennlp_sentmatch.modules import Matcher
from allennlp_sentmatch.standalone import StandaloneEncoder
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder

EPOCHS = {
    "batch_size": 9,
    "learning_rate": 0.01,
    "patience": 12,
}
MANY = {"head": FineTuning(**EPOCHS, num_epochs=12)}
FEW = {"head": FineTuning(**EPOCHS, num_epochs=1)}


@pytest.fixture(autouse=True)
def small_classifier(monkeypatch):
    monkeypatch.setattr(fine_tuned_head, "CLASSIFIER", {"hidden_size": 16})


def test_the_encoder_is_trained_and_the_given_one_is_not():
    given = tiny_encoder()
    before = copy.deepcopy(given.state_dict())
    classifier = PairClassifier(given, matcher="symmetric", **MANY).fit(PAIRS * 2, LABELS * 2)
    assert classifier.score(PAIRS, LABELS) > 0.9
    assert classifier.head_.model.labels == ["other", "same"]  # the bar of progress names them
    tuned = classifier.encoder_.network
    assert not torch.equal(tuned.embedding.weight, given.embedding.weight)
    for name, tensor in given.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_scores_keep_their_scale():
    """The range may be arbitrary; the classifier's grades are from 0 to 5."""
    scores = [100 * score - 300 for score in SCORES]  # from -200 to 0
    regressor = PairRegressor(tiny_encoder(), matcher="symmetric", **MANY)
    regressor.fit(PAIRS * 2, scores * 2)
    predicted = regressor.predict(PAIRS)
    correlation = numpy.corrcoef(predicted, scores)[0, 1]
    assert correlation > 0.8
    assert predicted.min() >= -200
    assert predicted.max() <= 0
    assert abs(predicted.mean() - numpy.mean(scores)) < 30


@pytest.mark.parametrize("num_rare", [1, 2])
def test_a_label_of_one_pair_is_learned_and_never_held_out(monkeypatch, num_rare):
    """This also works for two such labels."""
    labels = [f"rare {i}" for i in range(num_rare)] + LABELS[num_rare:]
    train = mock.Mock(wraps=fine_tuning_run._train)
    monkeypatch.setattr(fine_tuning_run, "_train", train)
    classifier = PairClassifier(tiny_encoder(), **FEW).fit(PAIRS, labels)
    assert classifier.classes_.tolist() == sorted(set(labels))
    held_out = train.call_args.args[3]
    targets = numpy.concatenate([batch["label"].numpy() for batch in held_out])
    assert set(classifier.classes_[targets]) == {"other", "same"}


@pytest.mark.parametrize("matcher", Matcher.list_available())
def test_every_matcher_can_be_learned(matcher):
    classifier = PairClassifier(tiny_encoder(), matcher=matcher, **FEW).fit(PAIRS, LABELS)
    assert classifier.predict_proba(PAIRS).shape == (len(PAIRS), 2)
    regressor = PairRegressor(tiny_encoder(), matcher=matcher, **FEW).fit(PAIRS, SCORES)
    assert regressor.predict(PAIRS).shape == (len(PAIRS),)


def test_an_archive_can_be_tuned_wherever_fit_is_called(small_archive):
    with torch.inference_mode():
        classifier = PairClassifier(small_archive, **FEW).fit(PAIRS, LABELS)
    assert isinstance(classifier.encoder_.network, StandaloneEncoder)
    assert classifier.predict(PAIRS).shape == (len(PAIRS),)


def probabilities(seed):
    """Return probabilities after fine-tuning with a seed, whatever the global states are."""
    classifier = PairClassifier(tiny_encoder(), **FEW, random_state=seed)
    torch.manual_seed(numpy.random.randint(1000))
    return classifier.fit(PAIRS, LABELS).predict_proba(PAIRS)


def test_the_seed_decides():
    state = torch.get_rng_state()
    expected = probabilities(1)
    torch.set_rng_state(state)
    numpy.testing.assert_allclose(probabilities(1), expected)
    assert abs(probabilities(2) - expected).max() > 1e-3


def test_without_a_seed_each_fit_differs():
    expected = probabilities(1)
    first = probabilities(None)
    second = probabilities(None)
    assert abs(first - expected).max() > 1e-3
    assert abs(first - second).max() > 1e-4


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        (PairClassifier, LABELS),
        (PairRegressor, SCORES),
    ],
)
@pytest.mark.parametrize(
    ("dtype", "dtype_of_process"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float64, torch.float32),
        (torch.float32, torch.float64),
    ],
)
def test_encoders_of_every_precision_are_tuned_in_float32(kind, targets, dtype, dtype_of_process):
    given = tiny_encoder().to(dtype)
    with default_dtype(dtype_of_process):
        tuned = kind(given, matcher="symmetric", **FEW).fit(PAIRS, targets)
        outputs = tuned._outputs(PAIRS)
        exchanged = tuned._outputs([pair[::-1] for pair in PAIRS])
    assert numpy.isfinite(outputs).all()
    numpy.testing.assert_allclose(exchanged, outputs, atol=1e-6)
    assert given.embedding.weight.dtype == dtype
    assert tuned.encoder_.network.embedding.weight.dtype == torch.float32
    assert tuned.head_.model.training is False


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 1e308),
        (-1.7e308, 1.7e308),
        (1e-300, 2e-300),
    ],
)
def test_scores_of_any_size_are_tuned(low, high):
    shares = [score / 2 - 0.5 for score in SCORES]
    scores = [low * (1 - share) + high * share for share in shares]
    predicted = PairRegressor(tiny_encoder(), **FEW).fit(PAIRS, scores).predict(PAIRS)
    assert numpy.isfinite(predicted).all()
    assert low <= predicted.min()
    assert predicted.min() < predicted.max()
    assert predicted.max() <= high


def test_few_pairs_are_warned_of(monkeypatch):
    classifier = PairClassifier(tiny_encoder(), head=FineTuning())
    with pytest.warns(UserWarning, match="36 pairs are few for fine-tuning") as caught:
        classifier.fit(PAIRS, LABELS)
    assert caught[0].filename == __file__
    monkeypatch.setattr(fine_tuning_run, "FEW_PAIRS", 36)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "36 pairs are few")
        classifier.fit(PAIRS, LABELS)


@pytest.mark.filterwarnings("ignore:36 pairs are few")
def test_the_default_seed_is_always_the_same():
    first = PairClassifier(tiny_encoder(), head=FineTuning()).fit(PAIRS, LABELS)
    second = PairClassifier(tiny_encoder(), head=FineTuning()).fit(PAIRS, LABELS)
    numpy.testing.assert_allclose(first.predict_proba(PAIRS), second.predict_proba(PAIRS))


OTHER_ENCODER = SimpleNamespace(encode=lambda sentences: numpy.ones((len(sentences), 2)))


SHORTENED = SentenceEncoder(tiny_encoder(), dimensions=2)


JOINED = [f"{first} {second}" for first, second in PAIRS]


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({"encoder": OTHER_ENCODER}, LABELS, "fine-tuning needs an encoder of this"),
        ({"encoder": SHORTENED}, LABELS, "fine-tuning needs all dimensions"),
        ({"matcher": "bilinear"}, LABELS, "matcher must be one of .*'bilinear'"),
        ({}, JOINED, "21 different pairs, or groups, with .*=0.1 can"),
    ],
)
def test_bad_settings_are_refused(parameters, labels, message):
    settings = {
        "encoder": SentenceEncoder(tiny_encoder()),
        **FEW,
        **parameters,
    }
    with pytest.raises((TypeError, ValueError), match=message):
        PairClassifier(**settings).fit(PAIRS, labels)


def test_equal_scores_are_refused():
    regressor = PairRegressor(SentenceEncoder(tiny_encoder()), **FEW)
    with pytest.raises(ValueError, match="all pairs have the score 1; fine-tuning needs different"):
        regressor.fit(PAIRS, [1.0] * 36)
