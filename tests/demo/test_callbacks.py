import base64

import pytest

from allennlp_sentmatch.demo import InMemorySearch
from allennlp_sentmatch.demo.callbacks import (
    drawings,
    explanation,
    figures,
    generated,
    heading,
    message,
    neighbors,
    predictions,
    table,
)
from allennlp_sentmatch.inspection import Drawing

PAIR = ("A small dog is running on the beach.", "A dog is moving.")
ATTACK = "<script>alert(1)</script> <img src=x onerror=alert(1)>"


def error(text):
    return f'<p role="alert" class="error">{text}</p>'


def test_several_people_get_their_own_predictions(pair_model):
    pairs = [PAIR, PAIR[::-1], ("", PAIR[1]), PAIR]
    notes, shown = predictions(pair_model, *zip(*pairs))
    refused = error("Please write a premise: there is nothing to read yet.")
    assert notes == ["", "", refused, ""]
    for pair, probabilities in zip((PAIR, PAIR[::-1]), shown):
        assert probabilities == pytest.approx(pair_model.predict(*pair).answer, abs=1e-6)
    assert shown[0] != pytest.approx(shown[1], abs=1e-6)
    assert shown[2] is None


def test_pictures_and_saliency(pair_model):
    pytest.importorskip("matplotlib")
    assert drawings(pair_model, *PAIR).count("<figure>") == 1
    for method in ("simple", "integrated", "smooth"):
        assert "<figure>" in explanation(pair_model, method, *PAIR)
    # A text that is not accepted has none.
    assert drawings(pair_model, PAIR[0], "") == ""
    assert explanation(pair_model, "simple", PAIR[0], "") == ""


def test_a_ranking_is_a_table(untrained):
    pytest.importorskip("matplotlib")
    model = untrained("attentive_ranker")
    _, (ranking, empty) = predictions(model, ["how do bees"] * 2, ["bees\nthe queen", ""])
    assert ranking.count("<tr>") == 3
    assert "<td>the queen</td>" in ranking
    assert empty == ""
    assert "<figure>" in drawings(model, "how do bees", "bees\nthe queen")


def test_what_was_typed_is_escaped(pair_model, untrained):
    pytest.importorskip("matplotlib")
    search = InMemorySearch(pair_model, [ATTACK, PAIR[0]])
    shown = [
        neighbors(search, ATTACK),
        explanation(pair_model, "simple", ATTACK, ATTACK),
        generated(untrained("cs_lvm"), ATTACK, False),
    ]
    for model in (pair_model, untrained("sentence_classifier"), untrained("attentive_ranker")):
        texts = [ATTACK] * len(model.task.inputs)
        notes, labels = predictions(model, *([text] for text in texts))
        shown += [*notes, *(label for label in labels if isinstance(label, str))]
        shown.append(drawings(model, *texts))
    assert sum("&lt;script&gt;" in piece for piece in shown) > 3
    for piece in shown:
        assert "<script" not in piece
        assert "<img src=x" not in piece


def test_unknown_words_are_mentioned(pair_model):
    (note, none), _ = predictions(pair_model, ["A wombat & a wombat.", PAIR[0]], [PAIR[1]] * 2)
    assert "“wombat”, “&amp;”" in note
    assert note.count("wombat") == 1
    assert none == ""
    assert 'role="status"' in note
    found = neighbors(InMemorySearch(pair_model, PAIR), "A wombat & a wombat.")
    assert found.startswith(note)
    assert "<td>1.000</td>" not in found


def test_a_failure_shows_a_sentence_to_the_one_whose_text_failed(pair_model, monkeypatch, caplog):
    predict_batch = pair_model.predict_batch

    def fail(batch):
        if any("fail" in texts for texts in batch):
            raise RuntimeError("secret of the server")
        return predict_batch(batch)

    monkeypatch.setattr(pair_model, "predict_batch", fail)
    notes, shown = predictions(pair_model, ["fail", PAIR[0]], [PAIR[1], PAIR[1]])
    sentence = "Sorry, the model failed on this input; the server&#x27;s log says why."
    assert notes == [error(sentence), ""]
    assert shown == [None, pair_model.predict(*PAIR).answer]
    assert "secret of the server" in caplog.text


def test_generated_sentences_are_a_table(untrained):
    model = untrained("cs_lvm")
    shown = generated(model, "A woman waits .", False)
    for label, sentences in model.generate("A woman waits .").items():
        assert f"<td>{label}</td><td>{sentences[0]}</td>" in shown
    assert "Please write a sentence" in generated(model, " ", False)


def test_an_svg_becomes_an_image_that_runs_no_script():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert("ä")</script></svg>'
    shown = figures([Drawing('The "tree" of a<b', svg)])
    title = "The &quot;tree&quot; of a&lt;b"
    assert f"<figure><figcaption>{title}</figcaption>" in shown
    assert f'<img alt="{title}"' in shown
    data = shown.split('src="data:image/svg+xml;base64,')[1].split('"')[0]
    assert base64.b64decode(data).decode() == svg


def test_html_stays_as_it_is():
    shown = figures([Drawing("Words", "<p>a &lt; b</p>", "text/html")])
    assert shown == (
        '<div class="figures"><figure><figcaption>Words</figcaption><p>a &lt; b</p></figure></div>'
    )
    assert figures([]) == message("") == ""


def test_texts_are_escaped():
    assert "<i>" not in message("<i>") + heading("<i>", "<i>") + table("<i>", ["<i>"], [["<i>"]])
