import re

import pytest

from allennlp_sentmatch.inspection import draw_prediction
from allennlp_sentmatch.inspection.drawing import HTML, draw_marked_text
from allennlp_sentmatch.predictors.echoing_predictor import MarkedText

TEXT = 'A <b> fox\n"slept" .'
OFFSETS = [(0, 1), (2, 5), (6, 9), (10, 11), (11, 16), (16, 17), (18, 19)]


def opacities(html):
    return [float(found) for found in re.findall(r"rgba\(255, 140, 0, ([\d.]+)\)", html)]


def test_the_text_is_as_it_was_written_and_the_span_is_marked():
    weights = [0.0, 0.1, 0.4, 0.2, 0.1, 0.1, 0.1]
    drawing = draw_marked_text(MarkedText("Answer", TEXT, OFFSETS, weights, (2, 4)))
    assert (drawing.title, drawing.media_type) == ("Answer", HTML)
    assert "<b>" not in drawing.content
    without_spans = re.sub(r"</?(span|p)\b[^>]*>", "", drawing.content)
    without_styles = re.sub(r' style="[^"]*"', "", without_spans)
    assert without_styles == ("A &lt;b&gt; <mark>fox<br>&quot;slept</mark>&quot; .")
    found = opacities(drawing.content)
    assert found == [0.0, 0.15, 0.6, 0.3, 0.15, 0.15, 0.15]


def test_no_weight_has_no_color():
    drawing = draw_marked_text(MarkedText("Answer", "A fox", [(0, 1), (2, 5)], [0, 0], (1, 1)))
    assert opacities(drawing.content) == [0.0, 0.0]


def test_the_pictures_of_an_answer(untrained_predictor):
    pytest.importorskip("seaborn")
    inputs = {"question": "Who slept?", "passage": "The fox\nslept in the old mill."}
    ends, attended, attention = draw_prediction(untrained_predictor("rnet"), inputs)
    assert [drawing.file_name for drawing in (ends, attended, attention)] == [
        "answer_in_the_passage.html",
        "attention_of_the_answer_to_the_passage.html",
        "attention_of_the_answer_to_the_question.svg",
    ]
    answer = untrained_predictor("rnet").predict_json(inputs)["answer"]
    for drawing in (ends, attended):
        (marked,) = re.findall(r"<mark[^>]*>(.*)</mark>", drawing.content)
        assert re.sub(r"<[^>]*>", "", marked.replace("<br>", "\n")) == answer
    assert {"Who", "slept", "?"} <= set(re.findall(r">([^<>]+)</text>", attention.content))
