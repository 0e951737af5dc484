"""An ensemble is the mean of its members' probabilities."""

import json
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model

from allennlp_sentmatch.models import Ensemble
from tests.models.samples import EMBEDDER

MEMBERS = [
    {
        "type": "sentence_classifier",
        "text_field_embedder": EMBEDDER,
        "encoder": {"type": "boe", "embedding_dim": 4},
        "classifier": {"hidden_size": 5, "dropout": 0.5},
    },
    {
        "type": "sentmatch_bcn",
        "text_field_embedder": EMBEDDER,
        "encoder": {"type": "lstm", "input_size": 4, "hidden_size": 3},
        "integrator": {"type": "lstm", "input_size": 9, "hidden_size": 2},
    },
    {
        "type": "sentence_classifier",
        "text_field_embedder": EMBEDDER,
        "encoder": {"type": "lstm", "input_size": 4, "hidden_size": 3},
    },
]
INPUTS = {
    "tokens": {"tokens": {"tokens": torch.tensor([[2, 3, 4], [4, 5, 0]])}},
    "label": torch.tensor([2, 0]),
}


def ensemble(vocab: Vocabulary, members: Any = MEMBERS) -> Ensemble:
    torch.manual_seed(0)
    params = {"type": "ensemble", "members": json.loads(json.dumps(members))}
    return Model.from_params(Params(params), vocab=vocab).eval()


def test_mean_of_probabilities(vocab):
    model = ensemble(vocab).double()
    output = model(**INPUTS, metadata=[{"id": 1}, {"id": 2}])
    members = [member(INPUTS["tokens"])["label_probs"] for member in model.members]
    mean = (members[0] + members[1] + members[2]) / 3
    torch.testing.assert_close(output["label_probs"], mean, atol=1e-12, rtol=0)
    torch.testing.assert_close(output["label_logits"], mean.log(), atol=1e-12, rtol=0)
    torch.testing.assert_close(
        output["member_probs"], torch.stack(members, dim=1), atol=1e-12, rtol=0
    )
    loss = -(mean[0, 2].log() + mean[1, 0].log()) / 2
    torch.testing.assert_close(output["loss"], loss, atol=1e-12, rtol=0)
    assert output["metadata"] == [{"id": 1}, {"id": 2}]
    right = (mean.argmax(dim=1) == INPUTS["label"]).double().mean().item()
    assert model.get_metrics()["accuracy"] == right


def test_certain_members_do_not_make_an_infinite_loss(vocab):
    """One of three gives the label no chance that float32 could hold."""
    model = ensemble(vocab)
    with torch.no_grad():
        model.members[0]._classifier.output_layer.bias += torch.tensor([0.0, 1000.0, 0.0])
    output = model(**INPUTS)
    assert output["member_probs"][0, 0, 2] == 0
    assert output["loss"].item() < 10


def test_impossible_members(vocab):
    with pytest.raises(ConfigurationError, match="at least one model"):
        ensemble(vocab, [])
    other = {
        "type": "basic_classifier",
        "text_field_embedder": EMBEDDER,
        "seq2vec_encoder": {"type": "boe", "embedding_dim": 4},
    }
    with pytest.raises(ConfigurationError, match="member 1 is a BasicClassifier"):
        ensemble(vocab, [MEMBERS[0], other])


def test_an_archive_asks_for_no_pretrained_vectors_again(vocab, tmp_path):
    """AllenNLP itself would look for the file of a member, which is in a list."""
    vocab.save_to_files(tmp_path / "vocabulary")
    torch.save(ensemble(vocab).state_dict(), tmp_path / "best.th")
    members = json.loads(json.dumps(MEMBERS))
    embedding = members[1]["text_field_embedder"]["token_embedders"]["tokens"]
    embedding["pretrained_file"] = "gone.txt"
    config = Params({"model": {"type": "ensemble", "members": members}})
    loaded = Model.load(config, tmp_path).eval()
    torch.testing.assert_close(
        loaded(**INPUTS)["label_probs"], ensemble(vocab)(**INPUTS)["label_probs"]
    )
