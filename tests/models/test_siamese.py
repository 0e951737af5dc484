"""The models that encode the two sentences of a pair separately."""

import math

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.nn import matching
from tests.models.samples import TWO_SENTENCES, construct, sample

CAS_LSTM = {
    "type": "cas_lstm",
    "input_size": 4,
    "hidden_size": 3,
}
ENCODER = {
    "type": "pooled",
    "encoder": CAS_LSTM,
    "pooling": "max",
}
IDS = [text["tokens"]["tokens"] for text in TWO_SENTENCES.values()]


def classifier(vocab):
    return construct(
        vocab,
        "siamese_classifier",
        encoder=ENCODER,
        matcher="heuristic",
    )


def regressor(vocab, highest_score=5):
    settings = {
        "scorer": "cosine",
        "lowest_score": 0,
        "highest_score": highest_score,
    }
    return construct(vocab, "similarity_regressor", encoder=ENCODER, **settings)


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
    model = make(vocab)
    calls = []
    vectors = [model.encode(tokens) for tokens in TWO_SENTENCES.values()]
    assert [x.shape for x in vectors] == [(2, 3)] * 2
    model._encoder.register_forward_hook(lambda *_: calls.append(1))
    output = model(**TWO_SENTENCES)
    compared = model.compare(*vectors)
    assert len(calls) == 1  # for both sentences
    for name, values in compared.items():
        torch.testing.assert_close(values, output[name])
    assert compared.keys() >= {"label_probs"} or compared.keys() == {"score"}


@pytest.mark.parametrize("scorer", ["cosine", {"type": "graded", "matcher": "elbis"}])
def test_loss_and_metrics_of_scores(scorer):
    regression = sample("similarity_regressor")
    model = regression.model(scorer=scorer)
    tensors = regression.batch()
    gold = tensors["score"]
    output = model(**tensors)
    vectors = [model.encode(tensors[key]) for key in ("premise", "hypothesis")]
    compared = model._scorer(*vectors)
    torch.testing.assert_close(output["loss"], model._scorer.loss(compared, gold))
    torch.testing.assert_close(output["score"], model._scorer.score(compared))
    torch.testing.assert_close(model.compare(*vectors), {"score": output["score"]})
    predicted = output["score"].detach().numpy()
    true = gold.numpy()
    ranks = [values.argsort().argsort() for values in (predicted, true)]
    expected = {
        "pearson": numpy.corrcoef(predicted, true)[0, 1],
        "spearman": numpy.corrcoef(*ranks)[0, 1],
        "mean_squared_error": ((predicted - true) ** 2).mean(),
    }
    assert model.get_metrics(reset=True) == pytest.approx(expected, abs=1e-4)
    assert math.isnan(model.get_metrics()["mean_squared_error"])


def test_pairs_may_have_a_score_and_a_label(vocab):
    both = {"score": torch.tensor([1.0, 2.0]), "label": torch.tensor([0, 1])}
    for model in (regressor(vocab), classifier(vocab)):
        assert model(**TWO_SENTENCES, **both)["loss"] > 0


def test_a_true_score_outside_the_scale_is_refused(vocab):
    score = torch.tensor([4.0, 4.5])
    metadata = [{}, {"id": "x"}]
    with pytest.raises(ConfigurationError, match=r"score 4\.5 of \{'id': 'x'\} is not between"):
        regressor(vocab, highest_score=4)(**TWO_SENTENCES, score=score, metadata=metadata)


WORD_FEATURES = torch.tensor([[1.0, 0.0], [0.5, 2.0]])


def comparing(vocab):
    """A classifier that also reads two features of words, with weights that are not zero."""
    model = construct(
        vocab, "siamese_classifier", encoder=ENCODER, matcher="heuristic", num_word_features=2
    )
    torch.nn.init.normal_(model._comparison.output.weight)
    return model


def test_the_comparison_of_words_is_added_to_the_classifier(vocab):
    model = comparing(vocab)
    plain = classifier(vocab)
    plain.load_state_dict(model.state_dict(), strict=False)
    vectors = [model.encode(tokens) for tokens in TWO_SENTENCES.values()]
    expected = plain(**TWO_SENTENCES)["label_logits"] + model._comparison(*vectors, WORD_FEATURES)
    logits = model(**TWO_SENTENCES, word_features=WORD_FEATURES)["label_logits"]
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(model.match(*vectors, WORD_FEATURES), expected)


def test_texts_without_features_of_words_and_stored_vectors_are_refused(vocab):
    model = comparing(vocab)
    vectors = [model.encode(tokens) for tokens in TWO_SENTENCES.values()]
    message = "num_word_features=2, but a pair has 0: let the reader make them"
    with pytest.raises(ConfigurationError, match=message):
        model(**TWO_SENTENCES)
    with pytest.raises(ConfigurationError, match=message):
        model.compare(*vectors)


def test_features_of_words_do_not_matter_to_a_model_without_their_number(vocab):
    model = classifier(vocab)
    with_features = model(**TWO_SENTENCES, word_features=WORD_FEATURES)
    torch.testing.assert_close(with_features, model(**TWO_SENTENCES))


@pytest.mark.parametrize("name", ["rcrn_entailment", "attentive_ranker"])
def test_an_impossible_number_of_features_of_words(name):
    """An archive from elsewhere may have it; its parameters would take all of the memory."""
    with pytest.raises(ConfigurationError, match=r"num_word_features of .* must be from 0 to 1,0"):
        sample(name).construct(num_word_features=1_000_001)
