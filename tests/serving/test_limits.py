import pytest

from allennlp_sentmatch.serving import limits
from allennlp_sentmatch.serving.limits import (
    affordable_words,
    check_cost,
    cost,
    indexed_shape,
    joined,
)
from allennlp_sentmatch.serving.requests import RequestError

TEXTS = {
    "answer_extractor": {"question": "a b c", "passage": "a b c d e"},
    "answer_ranker": {"question": "a b c d", "candidates": ["a", "a b"]},
    "pair_generator": {"source": "a b c"},
    "sentence_pair": {"premise": "a b c", "hypothesis": "a b"},
    "sentence_vector": {"sentence": "a b c"},
    "single_sentence": {"sentence": "a b c"},
    "translation": {"source": "a b c"},
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("attentive_ranker", 4 * (4 + 2 * 2)),
        ("bcn", 3 * 3),
        ("decomposable_attention", 3 * (3 + 2)),
        ("distilled_encoder", 3 * 3),
        ("rnet", 5 * (3 + 5)),
        ("similarity_regressor", 3 * (3 + 2)),
    ],
)
def test_the_cost_of_an_input_is_its_longest_text_times_all_texts(
    untrained_predictor, name, expected
):
    predictor = untrained_predictor(name)
    request = TEXTS[predictor._model.default_predictor]
    assert cost(indexed_shape(predictor, predictor.check(request).instance)) == expected


def test_a_batch_is_padded():
    shape = joined(
        joined({}, {"question": (1, 4), "candidates": (9, 1)}),
        {"question": (1, 2), "candidates": (1, 7)},
    )
    assert cost(shape, 2) == 2 * 7 * (4 + 9 * 7)


@pytest.mark.parametrize(
    "shape",
    [
        {"question": (1, 4900), "candidates": (9000, 1)},  # 21 GB
        {"question": (1, 4900), "passage": (1, 4900)},  # 13 GB
        {"premise": (1, 9990), "hypothesis": (1, 1)},  # two minutes
        {"question": (1, 20), "candidates": (3000, 20)},
        {"tokens": (1, 1001)},
    ],
)
def test_dear_inputs_are_refused(shape):
    with pytest.raises(
        RequestError, match=r"limited to 1,000 x 1,000, which .*--max-words"
    ) as error:
        check_cost(shape, 1000)
    assert error.value.status == 413


@pytest.mark.parametrize(
    "shape",
    [
        {"question": (1, 30), "candidates": (380, 50)},
        {"question": (1, 30), "passage": (1, 980)},
        {"premise": (1, 700), "hypothesis": (1, 700)},
        {"tokens": (1, 1000)},
    ],
)
def test_long_inputs_are_read(shape):
    check_cost(shape, 1000)


@pytest.mark.parametrize(("words_a_second", "expected"), [(1e9, 1000), (300, 500), (50, 125)])
def test_the_limit_of_a_slow_model_is_lower(monkeypatch, words_a_second, expected):
    """Its time grows with the square: a text of 1,000 words, or of 500, takes over ten seconds."""
    used = [0.0, 0]

    class Predictor:
        def predict_example(self, num_words):
            used[0] += (num_words / words_a_second) ** 2

    class Usage:
        def __init__(self, _):
            self.ru_utime, self.ru_maxrss = used

    monkeypatch.setattr(limits.resource, "getrusage", Usage)
    assert affordable_words(Predictor()) == expected
