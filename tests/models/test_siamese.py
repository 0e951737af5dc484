"""The models that encode the two sentences of a pair separately."""

import math

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.nn import matching, scaled_cosine
from tests.models.samples import TWO_SENTENCES, construct, sample

ENCODER = {
    "type": "pooled",
    "encoder": {"type": "cas_lstm", "input_size": 4, "hidden_size": 3},
    "pooling": "max",
}
IDS = [text["tokens"]["tokens"] for text in TWO_SENTENCES.values()]


def classifier(vocab, **settings):
    settings = {"encoder": ENCODER, "matcher": "heuristic", **settings}
    return construct(vocab, "siamese_classifier", **settings)


def regressor(vocab, **settings):
    settings = {
        "encoder": ENCODER,
        "scorer": "cosine",
        "lowest_score": 0,
        "highest_score": 5,
        **settings,
    }
    return construct(vocab, "similarity_regressor", **settings)


def test_equations_of_the_classifier(vocab):
    """CAS-LSTM eqs 14-15 with max-pooling, one pair at a time."""
    model = classifier(vocab)
    output = model(**TWO_SENTENCES)
    for row in range(2):
        vectors = []
        for ids in (ids[row, ids[row] > 0][None] for ids in IDS):
            embedded = model._text_field_embedder.token_embedder_tokens(ids)
            outputs = model._encoder.encoder(embedded, torch.ones_like(ids, dtype=torch.bool))
            vectors.append(outputs[0].max(dim=0).values)
        logits = model._classifier(matching.heuristic(*vectors)[None])[0]
        torch.testing.assert_close(output["label_logits"][row], logits)


@pytest.mark.parametrize("make", [classifier, regressor])
def test_a_sentence_is_encoded_once_and_compared_often(vocab, make):
    model, calls = make(vocab), []
    vectors = [model.encode(tokens) for tokens in TWO_SENTENCES.values()]
    assert [x.shape for x in vectors] == [(2, 3)] * 2
    model._encoder.register_forward_hook(lambda *_: calls.append(1))
    output, compared = model(**TWO_SENTENCES), model.compare(*vectors)
    assert len(calls) == 1  # for both sentences
    for name, values in compared.items():
        torch.testing.assert_close(values, output[name])
    assert compared.keys() >= {"label_probs"} or compared.keys() == {"score"}


def test_loss_and_metrics_of_scores():
    regression = sample("similarity_regressor")
    model, tensors = regression.model(), regression.batch()
    gold, output = tensors["score"], model(**tensors)
    compared = model._scorer(*(model.encode(tensors[key]) for key in ("premise", "hypothesis")))
    torch.testing.assert_close(output["loss"], model._scorer.loss(compared, gold))
    torch.testing.assert_close(output["score"], model._scorer.score(compared))
    predicted, true = output["score"].detach().numpy(), gold.numpy()
    assert model.get_metrics(reset=True) == {
        "pearson": pytest.approx(numpy.corrcoef(predicted, true)[0, 1], abs=1e-4),
        "spearman": pytest.approx(
            numpy.corrcoef(predicted.argsort().argsort(), true.argsort().argsort())[0, 1]
        ),
        "mean_squared_error": pytest.approx(((predicted - true) ** 2).mean(), rel=1e-5),
    }
    assert math.isnan(model.get_metrics()["mean_squared_error"])


@pytest.mark.parametrize("scorer", ["cosine", {"type": "graded", "matcher": "elbis"}])
def test_scores_of_sentences_that_are_encoded_already(scorer):
    regression = sample("similarity_regressor")
    predictor = regression.predictor(regression.model(scorer=scorer))
    encoder = ArchiveEncoder(predictor._model, predictor._dataset_reader)
    pairs = [("A plane is taking off.", "A man is playing a flute."), ("Hurt.", "I agree.")]
    vectors = [encoder.encode(sentences) for sentences in zip(*pairs)]
    outputs = [predictor.predict(*pair) for pair in pairs]
    for output, compared in zip(outputs, encoder.match(*vectors)):
        assert compared == {"score": pytest.approx(output["score"], abs=1e-5)}
        assert not {"label", "label_probs", "probs_by_label", "loss"} & output.keys()
        assert 0 <= output["score"] <= 5
    if scorer == "cosine":
        expected = scaled_cosine(*map(torch.tensor, vectors), 0, 5).clamp(0, 5)
        assert [o["score"] for o in outputs] == pytest.approx(expected.tolist(), abs=1e-5)


def test_pairs_may_have_a_score_and_a_label(vocab):
    both = {"score": torch.tensor([1.0, 2.0]), "label": torch.tensor([0, 1])}
    for model in (regressor(vocab), classifier(vocab)):
        assert model(**TWO_SENTENCES, **both)["loss"] > 0


def test_a_true_score_outside_the_scale_is_refused(vocab):
    score, metadata = torch.tensor([4.0, 4.5]), [{}, {"id": "x"}]
    with pytest.raises(ConfigurationError, match=r"score 4\.5 of \{'id': 'x'\} is not between"):
        regressor(vocab, highest_score=4)(**TWO_SENTENCES, score=score, metadata=metadata)
