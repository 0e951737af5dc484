"""The drawing of a prediction has the attention of each model over the right words."""

import re

import pytest

from allennlp_sentmatch.inspection import Drawing, draw_attention_of

pytest.importorskip("seaborn")


@pytest.fixture
def drawn(monkeypatch):
    """The arguments of each drawing: (title, weights, rows, columns)."""
    calls = []
    monkeypatch.setattr(
        "allennlp_sentmatch.inspection.prediction.draw_attention",
        lambda *arguments: calls.append(arguments) or Drawing(arguments[0], "<svg/>"),
    )
    return calls


PAIR = {"premise": "A cat sleeps", "hypothesis": "A pet rests quietly ."}
SELF_ATTENTION = {f"Self attention of the {name}": (n, n) for name, n in zip(PAIR, (3, 5))}
MUTUAL_ATTENTION = {
    "Attention of the premise to the hypothesis": (3, 5),
    "Attention of the hypothesis to the premise": (5, 3),
}
QUESTION = {"question": "who sleeps ?", "candidates": ["the cat sleeps .", "no one"]}
CANDIDATES = {f"Attention of candidate {i}": (1, n) for i, n in ((1, 4), (2, 2))}
CANDIDATES["Attention of the question"] = (2, 3)


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("esim", PAIR, MUTUAL_ATTENTION),
        ("bcn", {"sentence": "a b c d"}, {"Attention": (4, 4), "Pooling attention": (1, 4)}),
        ("sentence_classifier", {"sentence": "a b c"}, {"Pooling attention": (1, 3)}),
        ("lstmn_classifier", PAIR, {**SELF_ATTENTION, "Attention of the premise": (1, 3)}),
        ("lstmn_classifier_lstmn", PAIR, SELF_ATTENTION),
        ("lstmn_classifier_lstm", PAIR, {}),
        ("attentive_ranker", QUESTION, CANDIDATES),
        ("encoder_decoder", {"source": "ein Mann schläft ."}, {"Alignment": (None, 4)}),
    ],
)
def test_every_model_shows_its_attention(untrained_predictor, drawn, name, inputs, expected):
    predictor = untrained_predictor(name)
    draw_attention_of(predictor, predictor.predict_json(inputs))
    sizes = {title: (len(rows), len(columns)) for title, _, rows, columns in drawn}
    num_steps = sizes.get("Alignment", (None,))[0]  # a translation may have any length
    assert sizes == {title: (rows or num_steps, n) for title, (rows, n) in expected.items()}
    for _, weights, rows, columns in drawn:
        assert len(weights) == len(rows)
        for row in weights:
            assert len(row) == len(columns)
            assert sum(row) == pytest.approx(1, abs=1e-5) or sum(row) == 0


def test_the_axes_of_a_pair_have_the_words_of_the_right_sentence(untrained_predictor, drawn):
    predictor = untrained_predictor("esim")
    draw_attention_of(predictor, predictor.predict_json(PAIR))
    (_, _, rows, columns), (_, _, other_rows, other_columns) = drawn
    assert rows == PAIR["premise"].split()
    assert columns == PAIR["hypothesis"].split()
    assert other_rows == columns
    assert other_columns == rows


def test_the_pictures_of_an_answer(untrained_predictor):
    inputs = {"question": "Who slept?", "passage": "The fox\nslept in the old mill."}
    predictor = untrained_predictor("rnet")
    output = predictor.predict_json(inputs)
    ends, attended, attention = draw_attention_of(predictor, output)
    assert ends.file_name == "answer_in_the_passage.html"
    assert attention.file_name == "attention_of_the_answer_to_the_question.svg"
    for drawing in (ends, attended):
        (marked,) = re.findall(r"<mark[^>]*>(.*)</mark>", drawing.content)
        assert re.sub(r"<[^>]*>", "", marked.replace("<br>", "\n")) == output["answer"]
    assert {"Who", "slept", "?"} <= set(re.findall(r">([^<>]+)</text>", attention.content))
