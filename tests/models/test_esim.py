"""ESIM's dropout and its exchangeable parts; its logits are tested in test_allennlp_models.py."""

import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.samples import TWO_SENTENCES, construct

ENCODER = {
    "type": "lstm",
    "input_size": 4,
    "hidden_size": 3,
    "bidirectional": True,
}
INFERENCE_ENCODER = {
    "type": "lstm",
    "input_size": 5,
    "hidden_size": 2,
    "bidirectional": True,
}


def esim(vocab: Vocabulary, **settings) -> Model:
    settings = {
        "encoder": ENCODER,
        "inference_encoder": INFERENCE_ENCODER,
        **settings,
    }
    return construct(vocab, "sentmatch_esim", **settings)


def test_dropout_before_both_encoders(vocab):
    """In training, the same dimensions are dropped from every token of a sentence."""
    projection = {
        "num_layers": 1,
        "hidden_dims": 5,
        "activations": "linear",
    }
    model = esim(vocab, projection_feedforward=projection)
    read = []
    for encoder in (model._encoder, model._inference_encoder):
        encoder.register_forward_hook(lambda _, args, __: read.append(args[0]))
    for training in (False, True):
        model.train(training)(**TWO_SENTENCES)
    for inputs in read[:2]:
        assert (inputs != 0).any(dim=1).all()
    for inputs in read[2:]:
        # Of 4 sentences, the first of which has 4 tokens.
        dropped = (inputs[0] == 0).all(dim=0)
        assert 0 < (inputs == 0).all(dim=1).sum() < inputs[:, 0].numel()
        assert ((inputs[0] == 0) == dropped).all()


def test_takes_other_encoders_projections_and_attention(vocab):
    model = esim(
        vocab,
        matcher="elbis",
        encoder={"type": "subilstm", "input_size": 4, "hidden_size": 3},
        inference_encoder={"type": "rcrn", "input_size": 5, "hidden_size": 2},
        projection_feedforward={"num_layers": 2, "hidden_dims": [7, 5], "activations": "tanh"},
        matrix_attention={"type": "bilinear", "matrix_1_dim": 6, "matrix_2_dim": 6},
    )
    logits = model(**TWO_SENTENCES)["label_logits"]
    premises, hypotheses = (text["tokens"]["tokens"] for text in TWO_SENTENCES.values())
    second = ({"tokens": {"tokens": ids}} for ids in (premises[1:, :2], hypotheses[1:]))
    torch.testing.assert_close(logits[1:], model(*second)["label_logits"])
