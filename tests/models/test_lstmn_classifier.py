"""The classifier over two LSTMNs or LSTMs. Their mathematics is tested in tests/nn."""

import copy
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model

from allennlp_sentmatch.models import LstmnClassifier
from tests.models.model_contract import ClassifierContract

PREMISE = {"tokens": {"tokens": torch.tensor([[2, 3, 4, 2], [2, 3, 0, 0]])}}
HYPOTHESIS = {"tokens": {"tokens": torch.tensor([[5, 3, 0], [4, 3, 5]])}}


def lstmn_classifier(vocab: Vocabulary, **encoder: Any) -> LstmnClassifier:
    embedding = {"tokens": {"type": "embedding", "embedding_dim": 4}}
    params = {
        "type": "lstmn_classifier",
        "text_field_embedder": {"token_embedders": embedding},
        "encoder": {"hidden_size": 3, **encoder},
    }
    torch.manual_seed(0)
    return Model.from_params(Params(copy.deepcopy(params)), vocab=vocab).eval()


class TestLstmnClassifier(ClassifierContract):
    config = "lstmn_classifier.jsonnet"
    json = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}
    text_keys = ("premise", "hypothesis")

    def test_shows_the_attention_in_and_between_the_sentences(self):
        shorter = {"premise": "She waits .", "hypothesis": "A bus"}
        for pair, output in zip(
            [self.json, shorter], self.predictor.predict_batch_json([self.json, shorter])
        ):
            for key in self.text_keys:
                length = len(pair[key].split())
                rows = output[f"{key}_self_attention"]
                assert [len(row) for row in rows] == [length] * length
                assert [sum(row) for row in rows] == pytest.approx([0] + [1] * (length - 1))
            assert len(output["premise_attention"]) == len(pair["premise"].split())
            assert sum(output["premise_attention"]) == pytest.approx(1)
            assert not any(key.endswith("_lengths") for key in output)


class TestWithoutInterAttention(ClassifierContract):
    config = "lstmn_classifier_lstmn.jsonnet"
    json = TestLstmnClassifier.json
    text_keys = ("premise", "hypothesis")

    def test_shows_the_attention_in_the_sentences_alone(self):
        output = self.predictor.predict_json(self.json)
        for key in self.text_keys:
            assert len(output[f"{key}_self_attention"]) == len(self.json[key].split())
        assert "premise_attention" not in output
        assert not any(key.endswith("_lengths") for key in output)


class TestLstms(ClassifierContract):
    config = "lstmn_classifier_lstm.jsonnet"
    json = TestLstmnClassifier.json
    text_keys = ("premise", "hypothesis")

    def test_shows_no_attention(self):
        output = self.predictor.predict_json(self.json)
        assert not any("attention" in key for key in output)


@pytest.mark.parametrize("name", ["lstm", "lstmn"])
def test_the_last_state_of_the_second_network_is_classified(vocab, name):
    model = lstmn_classifier(vocab, type=name).double()
    embedding = model._text_field_embedder.token_embedder_tokens
    ids = PREMISE["tokens"]["tokens"], HYPOTHESIS["tokens"]["tokens"]
    vectors = model._encoder(embedding(ids[0]), ids[0] > 0, embedding(ids[1]), ids[1] > 0)
    torch.testing.assert_close(
        model(PREMISE, HYPOTHESIS)["label_logits"], model._classifier(vectors)
    )


def test_equations_of_one_pair(vocab):
    """Report, equations 14-17, over the tapes of two LSTMNs, then the classifier."""
    model = lstmn_classifier(vocab).double()
    premise_ids, hypothesis_ids = torch.tensor([[2, 3, 4]]), torch.tensor([[5, 2]])
    encoder, embedding = model._encoder, model._text_field_embedder.token_embedder_tokens
    (Y,), premise_attention = encoder.premise_reader(
        embedding(premise_ids), premise_ids > 0, return_attention=True
    )
    (hypothesis_tape,), hypothesis_attention = encoder.hypothesis_reader(
        embedding(hypothesis_ids), hypothesis_ids > 0, return_attention=True
    )
    h_N = hypothesis_tape[-1]
    s = torch.stack(
        [
            encoder.attention_vector
            @ (encoder.attention_premise @ y + encoder.attention_hypothesis @ h_N).tanh()
            for y in Y
        ]
    )
    alpha = s.exp() / s.exp().sum()
    r = sum(weight * y for weight, y in zip(alpha, Y))
    h_star = (encoder.output_premise @ r + encoder.output_hypothesis @ h_N).tanh()
    output = model({"tokens": {"tokens": premise_ids}}, {"tokens": {"tokens": hypothesis_ids}})
    torch.testing.assert_close(output["premise_attention"][0], alpha, atol=1e-9, rtol=0)
    torch.testing.assert_close(output["premise_self_attention"], premise_attention)
    torch.testing.assert_close(output["hypothesis_self_attention"], hypothesis_attention)
    expected = model._classifier(h_star[None])
    torch.testing.assert_close(output["label_logits"], expected, atol=1e-9, rtol=0)


def test_starting_from_the_premise_is_an_option(vocab):
    alone, conditioned = (lstmn_classifier(vocab, start_from_premise=s) for s in (False, True))
    assert alone.state_dict().keys() == conditioned.state_dict().keys()
    before, after = (model(PREMISE, HYPOTHESIS)["label_logits"] for model in (alone, conditioned))
    assert (before - after).abs().min() > 0


def test_attention_size(vocab):
    assert lstmn_classifier(vocab, attention_size=5)._encoder.attention_vector.shape == (5,)
    assert lstmn_classifier(vocab)._encoder.attention_vector.shape == (3,)


def test_the_size_of_the_embeddings_is_filled_in_and_checked(vocab):
    assert lstmn_classifier(vocab)._encoder.input_size == 4
    with pytest.raises(ConfigurationError, match=r"text_field_embedder output dim.*4.*7"):
        lstmn_classifier(vocab, input_size=7)
    for name in ("lstm", "lstmn", "lstmn_inter_attention"):
        with pytest.raises(ConfigurationError, match="hidden_size must be at least 1, got 0"):
            lstmn_classifier(vocab, type=name, hidden_size=0)
