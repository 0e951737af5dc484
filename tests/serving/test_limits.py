"""Costs and limits fit the time and memory that a model takes."""

import pytest

from allennlp_sentmatch import PairClassifier
from allennlp_sentmatch.serving import limits, service_at
from allennlp_sentmatch.serving.limits import (
    FEWEST_WORDS,
    MAX_TEXT,
    MOST_WORDS,
    affordable_words,
    cost,
    joined,
    shape_of,
)
from allennlp_sentmatch.serving.routes import num_characters
from tests.estimators.tiny_encoder import LABELS, PAIRS, tiny_encoder

TEXTS = {
    "answer_extractor": {"question": "a b c", "passage": "a b c d e"},
    "answer_ranker": {"question": "a b c d", "candidates": ["a", "a b"]},
    "sentence_pair": {"premise": "a b c", "hypothesis": "a b"},
    "sentence_vector": {"sentence": "a b c"},
    "single_sentence": {"sentence": "a b c"},
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("attentive_ranker", 4 * (4 + 2 * 2)),
        ("rnet", 5 * (3 + 5)),
        ("decomposable_attention", 3 * (3 + 2)),
        ("similarity_regressor", 3 * (3 + 2)),
        ("bcn", 3 * 3),
        ("distilled_encoder", 3 * 3),
    ],
)
def test_the_cost_of_an_input_is_its_longest_text_times_all_texts(
    untrained_predictor, name, expected
):
    predictor = untrained_predictor(name)
    request = TEXTS[predictor._model.default_predictor]
    assert cost(shape_of(predictor.check(request).instance)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("attentive_ranker", 4 * (4 + 2 * 2)), ("similarity_regressor", 3 * (3 + 2))],
)
def test_features_of_words_are_not_words(untrained_predictor, name, expected, monkeypatch):
    predictor = untrained_predictor(name)
    monkeypatch.setattr(predictor._dataset_reader, "_has_word_features", True)
    instance = predictor.check(TEXTS[predictor._model.default_predictor]).instance
    assert "word_features" in instance.fields
    assert cost(shape_of(instance)) == expected


def test_a_batch_is_padded():
    shape = joined(
        joined({}, {"question": (1, 4), "candidates": (9, 1)}),
        {"question": (1, 2), "candidates": (1, 7)},
    )
    assert cost(shape, 2) == 2 * 7 * (4 + 9 * 7)


@pytest.mark.parametrize(
    ("shape", "is_dear"),
    [
        ({"question": (1, 4900), "candidates": (9000, 1)}, True),  # 21 GB
        ({"question": (1, 4900), "passage": (1, 4900)}, True),  # 13 GB
        ({"premise": (1, 9990), "hypothesis": (1, 1)}, True),  # two minutes
        ({"question": (1, 30), "candidates": (380, 50)}, False),
        ({"question": (1, 30), "passage": (1, 980)}, False),
        ({"premise": (1, 700), "hypothesis": (1, 700)}, False),
    ],
)
def test_dear_inputs(shape, is_dear):
    assert (cost(shape) > MOST_WORDS**2) == is_dear


@pytest.mark.parametrize("num_words", [FEWEST_WORDS, 300, MOST_WORDS])
def test_the_dearest_input_of_each_kind_of_model_fills_the_cost(untrained_predictor, num_words):
    """A ranker's input has few words and many candidates, twice as many pairs as with half of the
    words on each side.
    """
    for name in ("attentive_ranker", "similarity_regressor", "bcn", "rnet"):
        predictor = untrained_predictor(name)
        request = predictor.dearest_example(num_words, MAX_TEXT)
        assert num_characters(request, "-") <= MAX_TEXT
        shape = shape_of(predictor.check(request).instance)
        assert 0.93 * num_words**2 <= cost(shape) <= num_words**2
        if name == "attentive_ranker":
            num_candidates, length = shape["candidates"]
            pairs = num_candidates * length * shape["question"][1]
            assert pairs > 0.9 * num_words**2


def test_jobs_without_allennlp_are_measured_too(tmp_path):
    """An exported encoder's sentences, and the pairs of an estimator, whose cost is the same."""
    estimator = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS)
    estimator.save(tmp_path / "saved")
    for source in ("package", str(tmp_path / "saved")):
        service = service_at(source)
        assert service.most_words() == 1000
    job = service.routes["/predict"].job
    _, shape = job.read(job.dearest(1000))
    assert 0.93e6 <= cost(shape) <= 1e6


@pytest.mark.parametrize(
    ("seconds", "gibibytes", "expected"),
    [
        (0, 0, 1000),
        (11, 0, 500),
        (400, 0, 125),
        (9, 3.9, 1000),
        (0, 4.1, 500),
        (0, 17, 250),
    ],
)
def test_the_limit_of_a_dear_model_is_lower(monkeypatch, seconds, gibibytes, expected):
    """The cost of a text of 1,000 words, which grows with the square of their number."""
    used = [0.0, 0]

    class Dear:
        def try_dearest(self, num_words):
            used[0] += (num_words / 1000) ** 2 * seconds
            used[1] += int((num_words / 1000) ** 2 * gibibytes * 2**20)

    class Usage:
        def __init__(self, _):
            self.ru_utime, self.ru_maxrss = used

    monkeypatch.setattr(limits.resource, "getrusage", Usage)
    assert affordable_words(Dear()) == expected
