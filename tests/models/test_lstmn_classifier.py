"""The classifier over two LSTMNs or LSTMs. Their mathematics is tested in tests/nn."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.samples import TWO_SENTENCES, construct


def lstmn_classifier(vocab: Vocabulary, **encoder) -> Model:
    return construct(vocab, "lstmn_classifier", encoder={"hidden_size": 3, **encoder})


@pytest.mark.parametrize("name", ["lstm", "lstmn"])
def test_the_last_state_of_the_second_network_is_classified(vocab, name):
    model = lstmn_classifier(vocab, type=name).double()
    embedding = model._text_field_embedder.token_embedder_tokens
    ids = [text["tokens"]["tokens"] for text in TWO_SENTENCES.values()]
    vectors = model._encoder(embedding(ids[0]), ids[0] > 0, embedding(ids[1]), ids[1] > 0)
    torch.testing.assert_close(model(**TWO_SENTENCES)["label_logits"], model._classifier(vectors))


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


def test_settings_of_the_encoder(vocab):
    alone, conditioned = (lstmn_classifier(vocab, start_from_premise=s) for s in (False, True))
    assert alone.state_dict().keys() == conditioned.state_dict().keys()
    before, after = (model(**TWO_SENTENCES)["label_logits"] for model in (alone, conditioned))
    assert (before - after).abs().min() > 0
    assert lstmn_classifier(vocab, attention_size=5)._encoder.attention_vector.shape == (5,)
    assert alone._encoder.attention_vector.shape == (3,)
    assert alone._encoder.input_size == 4  # filled in
