"""Properties of BCN; its logits are tested in test_allennlp_models.py."""

import torch

from tests.models.samples import TWO_SENTENCES, construct, sample

TOKENS = TWO_SENTENCES["premise"]


def test_the_attention_of_a_very_long_sentence_is_left_out():
    output = sample("bcn").predictor(sample("bcn").model()).predict("man " * 1001)
    assert output["attention"] == []
    assert len(output["pooling_attention"]) == 1001


def test_takes_other_encoders_and_layers(vocab):
    """The output layer of allennlp-models' published configuration pools the logits too."""
    sizes = {
        "input_dim": 16,
        "num_layers": 3,
        "output_dims": [8, 4, 3],
        "pool_sizes": 4,
    }
    model = construct(
        vocab,
        "sentmatch_bcn",
        encoder={"type": "subilstm", "input_size": 5, "hidden_size": 3},
        pre_encode_feedforward={"num_layers": 2, "hidden_dims": [7, 5], "activations": "tanh"},
        integrator={"type": "lstm", "input_size": 18, "hidden_size": 2, "bidirectional": True},
        output_layer={**sizes, "dropout": 0.0},
    )
    assert model._output_layer._pool_sizes == [4, 4, 4]
    logits = model(TOKENS)["label_logits"]
    (alone,) = model({"tokens": {"tokens": TOKENS["tokens"]["tokens"][1:, :2]}})["label_logits"]
    torch.testing.assert_close(logits[1], alone)
