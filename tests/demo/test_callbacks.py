"""What the page shows, without a browser."""

import logging

import pytest

from allennlp_sentmatch.demo import InMemorySearch
from allennlp_sentmatch.demo.callbacks import answer, explanation, generated, neighbors

PAIR = ("A small kitten is carrying a red rose.", "A cat is moving a flower.")
ATTACK = "<script>alert(1)</script> <img src=x onerror=alert(1)>"


def error(text):
    return f'<p role="alert" class="error">{text}</p>'


def test_the_label_comes_first_and_the_saliency_last(pair_model):
    pytest.importorskip("matplotlib")
    answers = list(answer(pair_model, "simple", *PAIR))
    assert len(answers) == 3
    for note, probabilities, _, _ in answers:
        assert note == ""
        assert probabilities == pair_model.predict(*PAIR).probabilities
    assert answers[0][2:] == ("", "")
    assert answers[1][3] == ""
    assert "<figure>" in answers[2][3]


def test_an_empty_text_becomes_a_sentence(pair_model):
    (only,) = answer(pair_model, "simple", "", PAIR[1])
    assert only == (error("Please write a premise: there is nothing to read yet."), None, "", "")


def test_a_ranking_is_a_table(untrained):
    pytest.importorskip("matplotlib")
    model = untrained("attentive_ranker")
    *_, (_, ranking, drawings, saliency) = answer(model, "simple", "how do bees", "bees\nthe queen")
    assert ranking.count("<tr>") == 3
    assert "<td>the queen</td>" in ranking
    assert "<figure>" in drawings
    assert saliency == ""


def test_what_was_typed_is_escaped(pair_model, untrained):
    pytest.importorskip("matplotlib")
    search = InMemorySearch(pair_model, [ATTACK, PAIR[0]])
    shown = [
        neighbors(search, ATTACK),
        explanation(pair_model, "simple", ATTACK, ATTACK),
        generated(untrained("cs_lvm"), ATTACK, False),
    ]
    for model in (pair_model, untrained("sentence_classifier")):
        for pieces in answer(model, "simple", *[ATTACK] * len(model.inputs)):
            shown.extend(piece for piece in pieces if isinstance(piece, str))
    ranker = untrained("attentive_ranker")
    for pieces in answer(ranker, "simple", ATTACK, ATTACK):
        shown.extend(pieces)
    assert sum("&lt;script&gt;" in piece for piece in shown) > 3
    for piece in shown:
        assert "<script" not in piece
        assert "<img src=x" not in piece


def test_unknown_words_are_mentioned(pair_model):
    note, *_ = next(answer(pair_model, "simple", "A wombat & a cat.", PAIR[1]))
    assert "“wombat”, “&amp;”" in note
    assert 'role="status"' in note


def test_a_failure_shows_a_sentence_and_logs_the_reason(pair_model, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("secret of the server")

    monkeypatch.setattr(pair_model, "predict", fail)
    with caplog.at_level(logging.ERROR):
        (only,) = answer(pair_model, "simple", *PAIR)
    assert only[0] == error(
        "Sorry, the model failed on this input; the server&#x27;s log says why."
    )
    assert "secret of the server" in caplog.text


def test_an_explanation_by_each_method(pair_model):
    pytest.importorskip("matplotlib")
    for method in ("simple", "integrated", "smooth"):
        assert "<figure>" in explanation(pair_model, method, *PAIR)
    assert explanation(pair_model, "simple", "", "") == ""
    assert "Please write a hypothesis" in explanation(pair_model, "simple", PAIR[0], "")


def test_generated_sentences_are_a_table(untrained):
    model = untrained("cs_lvm")
    table = generated(model, "A woman waits .", False)
    for label, sentences in model.generate("A woman waits .").items():
        assert f"<td>{label}</td><td>{sentences[0]}</td>" in table
    assert "Please write a sentence" in generated(model, " ", False)
