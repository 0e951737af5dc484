"""The classifier over two LSTMNs or LSTMs. Their mathematics is tested in tests/nn."""

import pytest
import torch

from tests.models.samples import TWO_SENTENCES, construct


@pytest.mark.parametrize("name", ["lstm", "lstmn", "lstmn_inter_attention"])
def test_the_vector_of_the_two_networks_is_classified_and_their_attention_shown(vocab, name):
    model = construct(vocab, "lstmn_classifier", encoder={"hidden_size": 3, "type": name})
    embedding = model._text_field_embedder.token_embedder_tokens
    premise, hypothesis = (text["tokens"]["tokens"] for text in TWO_SENTENCES.values())
    vectors, attention = model._encoder(
        embedding(premise),
        premise > 0,
        embedding(hypothesis),
        hypothesis > 0,
        return_attention=True,
    )
    output = model(**TWO_SENTENCES)
    torch.testing.assert_close(output["label_logits"], model._classifier(vectors))
    for key, expected in [
        ("premise_self_attention", attention.premise),
        ("hypothesis_self_attention", attention.hypothesis),
        ("premise_attention", attention.inter),
    ]:
        assert (key in output) == (expected is not None)
        if expected is not None:
            torch.testing.assert_close(output[key], expected)
