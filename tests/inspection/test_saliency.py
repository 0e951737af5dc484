"""Saliency, against gradients taken without AllenNLP's hooks."""

import re

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection import SALIENCY_METHODS, draw_saliency, has_saliency, interpret

# As many words in either sentence: values given to the wrong one would not be noticed by number.
PAIR = {"premise": "A man sleeps .", "hypothesis": "Someone is awake ."}


@pytest.fixture(params=[True, False], ids=["trainable", "frozen"])
def predictor(request, untrained_predictor):
    embedding = {"type": "embedding", "embedding_dim": 4, "trainable": request.param}
    return untrained_predictor(
        "esim", text_field_embedder={"token_embedders": {"tokens": embedding}}
    )


def expected(predictor, pair):
    """|gradient of the loss of the predicted label . embedding|, a word at a time, normalized."""
    model = predictor._model
    label = predictor.predict_json(pair)["label_probs"]
    (embedding,) = model._text_field_embedder._token_embedders.values()
    instance = predictor._json_to_instance(pair)
    predictor._dataset_reader.apply_token_indexers(instance)
    instance.index_fields(model.vocab)
    tensors = {
        name: {
            "tokens": {
                "tokens": field.as_tensor(field.get_padding_lengths())["tokens"]["tokens"][None]
            }
        }
        for name, field in instance.fields.items()
        if name in pair
    }
    vectors = []

    def keep(module, inputs, output):
        vectors.append(output.detach().requires_grad_())
        return vectors[-1]

    handle = embedding.register_forward_hook(keep)
    logits = model(**tensors)["label_logits"]
    handle.remove()
    loss = torch.nn.functional.cross_entropy(
        logits, torch.tensor([max(range(len(label)), key=label.__getitem__)])
    )
    gradients = torch.autograd.grad(loss, vectors)
    shares = [(g * v).sum(-1).abs().squeeze(0) for g, v in zip(gradients, vectors)]
    return [(share / share.sum()).tolist() for share in shares]


def test_simple_gradients_are_the_gradients(predictor):
    premise, hypothesis = interpret(predictor, PAIR, "simple")
    for saliency, values in zip((premise, hypothesis), expected(predictor, PAIR)):
        assert saliency.tokens == PAIR[saliency.text].split()
        assert saliency.values == pytest.approx(values, abs=1e-5)
    assert premise.values != pytest.approx(hypothesis.values, abs=1e-3)


@pytest.mark.parametrize("method", SALIENCY_METHODS)
def test_both_sentences_get_values_that_depend_on_the_input(predictor, method):
    torch.manual_seed(0)
    other = {**PAIR, "hypothesis": "The man is not sleeping"}
    first, second = interpret(predictor, PAIR, method), interpret(predictor, other, method)
    for saliency in (*first, *second):
        assert sum(saliency.values) == pytest.approx(1)
        assert min(saliency.values) >= 0
    assert first[1].values != pytest.approx(second[1].values[:4], abs=1e-3)


def test_an_input_has_the_same_saliency_each_time(predictor):
    state = torch.get_rng_state()
    first = interpret(predictor, PAIR, "smooth")
    assert torch.get_rng_state().equal(state)
    torch.rand(3)
    for again, saliency in zip(interpret(predictor, PAIR, "smooth"), first):
        assert again.values == pytest.approx(saliency.values, abs=1e-6)


def test_the_model_is_left_as_it_was(predictor):
    model = predictor._model
    model.train()
    gradients = []
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
        gradients.append(parameter.grad)
    frozen = [parameter.requires_grad for parameter in model.parameters()]
    interpret(predictor, PAIR)
    assert model.training
    assert [parameter.requires_grad for parameter in model.parameters()] == frozen
    for parameter, gradient in zip(model.parameters(), gradients):
        assert parameter.grad is gradient
        assert gradient.eq(1).all()


@pytest.mark.parametrize("name", ["cs_lvm", "vae_siamese", "lstmn_classifier", "rcrn_entailment"])
def test_every_pair_classifier_has_saliency(untrained_predictor, name):
    result = interpret(untrained_predictor(name), PAIR)
    assert [saliency.text for saliency in result] == ["premise", "hypothesis"]
    for saliency in result:
        assert len(saliency.values) == len(saliency.tokens) == 4


@pytest.mark.parametrize("name", ["bcn", "sentence_classifier"])
def test_single_sentences_have_saliency(untrained_predictor, name):
    (saliency,) = interpret(untrained_predictor(name), {"sentence": "who was it ?"})
    assert saliency.text == "sentence"
    assert len(saliency.values) == 4


def test_a_ranking_has_none(untrained_predictor):
    predictor = untrained_predictor("attentive_ranker")
    assert not has_saliency(predictor)
    with pytest.raises(ConfigurationError, match="AnswerRankerPredictor"):
        interpret(predictor, {"question": "who ?", "candidates": ["me"]})


def test_another_method_is_refused(predictor):
    with pytest.raises(ConfigurationError, match="'magic'"):
        interpret(predictor, PAIR, "magic")


def test_colored_text_holds_the_words_and_no_markup_of_theirs(small_archive):
    predictor = Predictor.from_path(small_archive)
    html = draw_saliency(predictor, {"premise": "<script> a", "hypothesis": "b & c"}).content
    assert "<script>" not in html
    opacities = [float(x) for x in re.findall(r"rgba\(255, 140, 0, ([\d.]+)\)", html)]
    assert max(opacities) == 0.6
