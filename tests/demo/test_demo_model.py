import math
import threading
from itertools import chain

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo import DemoModel, InMemorySearch, InputError
from allennlp_sentmatch.demo.tasks import MAX_CANDIDATES, MAX_CHARACTERS
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.predictors import PairGenerator

PAIR = ("A small dog is running on the beach.", "A dog is moving.")
QUESTION = "how do bees make honey"


def test_predict_gives_the_predictors_probabilities(pair_model, small_archive):
    predictor = Predictor.from_archive(load_archive(small_archive))
    expected = predictor.predict(*PAIR)["probs_by_label"]
    prediction = pair_model.predict(*PAIR)
    assert prediction.answer == pytest.approx(expected, abs=1e-6)
    assert sum(prediction.answer.values()) == pytest.approx(1)
    assert pair_model.predict(f"  {PAIR[0]}\n", PAIR[1]) == prediction  # without white space


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((empty, r"^Please write a premise") for empty in ("", "  \n", None)),
        ("a" * (MAX_CHARACTERS + 1), r"^The premise has 1,001 characters; at most 1,000"),
        ("a " * 61, r"^The premise has 61 words and marks; at most 60"),
    ],
)
def test_texts_that_are_refused(pair_model, text, message):
    for method in (pair_model.predict, pair_model.draw, pair_model.explain):
        with pytest.raises(InputError, match=message):
            method(text, PAIR[1])


def test_long_texts_of_several_callers_do_not_share_a_batch(untrained, monkeypatch):
    model, batches = untrained("rnet"), []
    predict = model._predictor.predict_batch_instance
    record = lambda instances: batches.append(len(instances)) or predict(instances)  # noqa: E731
    monkeypatch.setattr(model._predictor, "predict_batch_instance", record)
    callers = [("the fox sleeps", "who sleeps")] * 3, [("fox " * 200, "who sleeps")] * 3
    expected = [model.predict(*texts) for texts in chain.from_iterable(callers)]
    batches.clear()
    assert [*chain.from_iterable(map(model.predict_batch, callers))] == expected
    assert batches == [3, 1, 1, 1]


@pytest.mark.parametrize("text", ["a" * MAX_CHARACTERS, "a " * 60])  # the former is one token
def test_the_longest_texts(pair_model, text):
    pair_model.predict(text, PAIR[1])


def test_a_ranker_ranks_the_lines(untrained):
    model = untrained("attentive_ranker")
    assert not model.can_explain
    rows = model.predict(QUESTION, "They dry the nectar .\n\n  the queen  \n").answer.rows
    assert {text for _, text in rows} == {"They dry the nectar .", "the queen"}
    scores = [float(score) for score, _ in rows]
    assert scores == sorted(scores, reverse=True)
    with pytest.raises(InputError, match="at least one possible answer"):
        model.predict(QUESTION, " \n ")
    model.predict(QUESTION, "bees\n" * MAX_CANDIDATES)
    with pytest.raises(InputError, match="11 possible answers; at most 10"):
        model.predict(QUESTION, "bees\n" * (MAX_CANDIDATES + 1))
    with pytest.raises(InputError, match=r"^The answer has 61 words and marks"):
        model.predict(QUESTION, "bees\n" + "a " * 61)


def test_a_score_of_a_pair(untrained):
    model = untrained("similarity_regressor")
    ((score, scale),) = model.predict("a plane", "a man").answer.rows
    assert 0 <= float(score) <= 5
    assert scale == "0 to 5"
    assert "plane" in model.explain("a plane", "a man").content


def test_the_vector_of_a_sentence(untrained, untrained_predictor):
    model = untrained("distilled_encoder")
    vector = untrained_predictor("distilled_encoder").predict("The baker sings.")["vector"]
    ((dimensions, length, first),) = model.predict("The baker sings.").answer.rows
    assert int(dimensions) == len(vector) == 384
    assert float(length) == pytest.approx(math.hypot(*vector), abs=1e-3)
    assert first.startswith(f"{vector[0]:.3f}, {vector[1]:.3f}, ")
    assert model.encode(["The baker sings."]).shape == (1, 384)
    assert not model.can_explain


def test_a_translation(untrained, untrained_predictor):
    model = untrained("encoder_decoder")
    expected = untrained_predictor("encoder_decoder").translate("ein Mann schläft .")
    rows = model.predict("ein Mann schläft .").answer.rows
    assert rows[0] == (f"{expected['score']:.2f}", expected["target"])
    texts = [text for _, text in rows]
    assert len(set(texts)) == len(texts) <= 5
    with pytest.raises(InputError, match=r"^Please write a sentence"):
        model.predict(" ")
    with pytest.raises(InputError, match=r"^The sentence has 61 words and marks"):
        model.predict("ein " * 61)


def test_generation_for_each_label(untrained):
    model = untrained("cs_lvm")
    assert model.can_generate
    expected = PairGenerator(model._model, model._reader).generate("A woman waits .")["sentences"]
    sentences = model.generate("A woman waits .")
    assert sentences.keys() == set(model._model.labels)
    for label, written in sentences.items():
        assert written[0] == expected[label][0]["sentence"]
        assert len(set(written)) == len(written)
    drawn = [model.generate("A woman waits .", sample=True) for _ in range(5)]
    assert any(one != drawn[0] for one in drawn)


def test_another_predictor_is_refused(untrained):
    model = untrained("cs_lvm")
    with pytest.raises(ConfigurationError, match=r"no page for PairGenerator; .*Translation"):
        DemoModel(PairGenerator(model._model, model._reader))


def test_a_prediction_does_not_wait_for_saliency_nor_change_it(pair_model, monkeypatch):
    """Predicts in the middle of a saliency, within its forward pass."""
    expected, saliency = pair_model.predict(*PAIR), pair_model.explain(*PAIR)
    others = pair_model.predict("Nobody is asleep.", "A dog sleeps.")
    reading, predicted = threading.Event(), threading.Event()
    encoder = pair_model._model._encoder
    explaining = threading.Thread(target=lambda: results.append(pair_model.explain(*PAIR)))

    def wait(*_):
        if threading.current_thread() is explaining:
            reading.set()
            assert predicted.wait(timeout=30)

    results = []
    handle = encoder.register_forward_pre_hook(wait)
    try:
        explaining.start()
        assert reading.wait(timeout=30)
        assert pair_model.predict("Nobody is asleep.", "A dog sleeps.") == others
        assert pair_model.predict(*PAIR) == expected
        predicted.set()
        explaining.join()
    finally:
        handle.remove()
    assert results == [saliency]


SENTENCES = ["A cat is moving a flower.", "A dog is moving a rose.", "Nobody is asleep.", "A cat."]


def test_the_nearest_sentences_by_cosine(pair_model, small_archive):
    query = "A dog is moving a flower."
    encoder = ArchiveEncoder.from_archive(small_archive)
    (vector,) = encoder.encode([query], show_progress=False)
    expected = {
        sentence: vector @ other / numpy.linalg.norm(vector) / numpy.linalg.norm(other)
        for sentence, other in zip(SENTENCES, encoder.encode(SENTENCES, show_progress=False))
    }
    search = InMemorySearch(pair_model, SENTENCES)
    found = search.nearest(query, count=3)
    assert [sentence for sentence, _ in found] == sorted(expected, key=expected.get)[:0:-1]
    assert dict(found) == pytest.approx({s: expected[s] for s, _ in found}, abs=1e-5)
    found = search.nearest(SENTENCES[1])
    assert len(found) == len(SENTENCES)
    assert found[0] == (SENTENCES[1], pytest.approx(1, abs=1e-5))
    with pytest.raises(InputError, match="Please write a sentence"):
        search.nearest(" ")


def test_a_model_without_an_encoder_is_refused(untrained):
    with pytest.raises(ConfigurationError, match="holds no sentence encoder"):
        InMemorySearch(untrained("esim"), SENTENCES)
    with pytest.raises(ConfigurationError, match="attentive pooling"):
        InMemorySearch(untrained("attentive_ranker"), SENTENCES)
