"""Ensembles: the mean of the members' probabilities, and an archive made from several."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.models.archival import archive_training
from allennlp_sentmatch.models.ensemble import Ensemble, ensemble_archives
from tests.models.samples import EMBEDDER, TWO_SENTENCES, sample

PAIR = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}

BOE = {"type": "boe", "embedding_dim": 4}
LSTM = {
    "type": "lstm",
    "input_size": 4,
    "hidden_size": 3,
}
INTEGRATOR = {
    "type": "lstm",
    "input_size": 9,
    "hidden_size": 2,
}
MEMBERS = [
    {"text_field_embedder": EMBEDDER, **settings}
    for settings in (
        {"type": "sentence_classifier", "encoder": BOE, "classifier": {"hidden_size": 5}},
        {"type": "sentmatch_bcn", "encoder": LSTM, "integrator": INTEGRATOR},
        {"type": "sentence_classifier", "encoder": LSTM},
    )
]
INPUTS = {
    "tokens": {"tokens": {"tokens": torch.tensor([[2, 3, 4], [4, 5, 0]])}},
    "label": torch.tensor([2, 0]),
}


def make(vocab: Vocabulary, members: Any = MEMBERS) -> Ensemble:
    torch.manual_seed(0)
    params = {"type": "ensemble", "members": json.loads(json.dumps(members))}
    return Model.from_params(Params(params), vocab=vocab).eval()


def test_mean_of_probabilities(vocab):
    model = make(vocab).double()
    output = model(**INPUTS, metadata=[{"id": 1}, {"id": 2}])
    members = [member(INPUTS["tokens"])["label_probs"] for member in model.members]
    mean = (members[0] + members[1] + members[2]) / 3
    expected = {
        "label_probs": mean,
        "label_logits": mean.log(),
        "member_probs": torch.stack(members, dim=1),
        "loss": -(mean[0, 2].log() + mean[1, 0].log()) / 2,
    }
    assert output.pop("metadata") == [{"id": 1}, {"id": 2}]
    torch.testing.assert_close(output, expected, atol=1e-12, rtol=0)
    right = (mean.argmax(dim=1) == INPUTS["label"]).double().mean().item()
    assert model.get_metrics()["accuracy"] == right


def test_members_read_features_of_words(vocab):
    siamese = {"type": "siamese_classifier", "matcher": "concat", "num_word_features": 2}
    model = make(vocab, [{**MEMBERS[0], **siamese, "classifier": {"hidden_size": 3}}])
    torch.nn.init.normal_(model.members[0]._comparison.output.weight)
    inputs = {**TWO_SENTENCES, "word_features": torch.tensor([[1.0, 0.0], [0.5, 2.0]])}
    expected = model.members[0](**inputs)["label_probs"]
    torch.testing.assert_close(model(**inputs)["label_probs"], expected)


def test_pairs_by_position(vocab):
    siamese = {"type": "siamese_classifier", "matcher": "concat"}
    model = make(vocab, [{**MEMBERS[0], **siamese, "classifier": {"hidden_size": 3}}])
    output = model(*TWO_SENTENCES.values(), INPUTS["label"])
    expected = model.members[0](**TWO_SENTENCES, label=INPUTS["label"])
    for name in ("label_probs", "loss"):
        torch.testing.assert_close(output[name], expected[name])


def test_certain_members_do_not_make_an_infinite_loss(vocab):
    """One of three members gives the label a probability below float32's range."""
    model = make(vocab)
    with torch.no_grad():
        model.members[0]._classifier.output_layer.bias += torch.tensor([0.0, 1000.0, 0.0])
    output = model(**INPUTS)
    assert output["member_probs"][0, 0, 2] == 0
    assert output["loss"].item() < 10


def test_impossible_members(vocab):
    with pytest.raises(ConfigurationError, match="at least one model"):
        make(vocab, [])
    other = {
        "type": "basic_classifier",
        "seq2vec_encoder": BOE,
        "text_field_embedder": EMBEDDER,
    }
    with pytest.raises(ConfigurationError, match="member 1 is a BasicClassifier"):
        make(vocab, [MEMBERS[0], other])


def test_an_archive_asks_for_no_pretrained_vectors_again(vocab, tmp_path):
    """AllenNLP would look for the file of a member, since members are in a list."""
    vocab.save_to_files(tmp_path / "vocabulary")
    torch.save(make(vocab).state_dict(), tmp_path / "best.th")
    members = json.loads(json.dumps(MEMBERS))
    embedding = members[1]["text_field_embedder"]["token_embedders"]["tokens"]
    embedding["pretrained_file"] = "gone.txt"
    config = Params({"model": {"type": "ensemble", "members": members}})
    loaded = Model.load(config, tmp_path).eval()
    torch.testing.assert_close(
        loaded(**INPUTS)["label_probs"], make(vocab)(**INPUTS)["label_probs"]
    )


@pytest.fixture(scope="module")
def members(tmp_path_factory) -> list[Path]:
    """Two models with different weights, and one with another encoder."""
    folder = tmp_path_factory.mktemp("members")
    subilstm = {
        "type": "subilstm",
        "input_size": 4,
        "hidden_size": 2,
    }
    return [
        sample("esim").save(folder / "1", seed=1),
        sample("esim").save(folder / "2", seed=2),
        sample("esim").save(folder / "3", encoder=subilstm),
    ]


def test_predictions_are_the_mean_of_the_members(members, tmp_path):
    """The archive does not need the members' archives."""
    copies = [shutil.copytree(member, tmp_path / member.name) for member in members]
    archive = ensemble_archives([str(copy) for copy in copies], str(tmp_path / "ensemble.tar.gz"))
    for copy in copies:
        shutil.rmtree(copy)
    output = Predictor.from_path(archive).predict_json(PAIR)
    probs = [Predictor.from_path(member).predict_json(PAIR)["label_probs"] for member in members]
    assert len(set(map(tuple, probs))) == 3
    assert output["member_probs"] == [pytest.approx(own, abs=1e-6) for own in probs]
    mean = [sum(of_label) / 3 for of_label in zip(*probs)]
    assert list(output["probs_by_label"].values()) == pytest.approx(mean, abs=1e-6)
    assert output.items() >= PAIR.items()


@pytest.mark.parametrize("is_folder", [True, False])
def test_files_that_the_members_need_are_included(members, tmp_path, is_folder):
    """Such as the file of a tokenizer: the shared reader looks for it in the archive."""
    member = shutil.copytree(members[0], tmp_path / "member")
    config = json.loads((member / "config.json").read_text())
    config["include_in_archive"] = ["bpe*.json", "words"]
    (member / "config.json").write_text(json.dumps(config))
    (member / "bpe.json").write_text("{}")
    (member / "words").mkdir()
    (member / "words" / "all.txt").write_text("a")
    archive = str(member) if is_folder else archive_training(member)
    path = ensemble_archives([archive], str(tmp_path / "ensemble.tar.gz"))
    with tarfile.open(path) as ensemble:
        assert {"bpe.json", "words/all.txt"} <= {*ensemble.getnames()}


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("vocabulary/tokens.txt", "\na\n", "\nxyzzy\n", "differ in the namespace 'tokens'"),
        ("config.json", '"snli"', '"snli", "max_length": 40', "dataset readers differ: .*40"),
    ],
)
def test_other_vocabularies_or_readers_cannot_be_combined(
    members, tmp_path, file, old, new, message
):
    other = shutil.copytree(members[0], tmp_path / "other")
    output = tmp_path / "ensemble.tar.gz"
    content = (other / file).read_text()
    assert old in content
    (other / file).write_text(content.replace(old, new))
    with pytest.raises(ConfigurationError, match=f"other cannot be combined .*{message}"):
        ensemble_archives([str(members[0]), str(other)], str(output))
    assert not output.exists()


def test_a_model_counts_once(members, tmp_path):
    """A copy, also of another name, would have twice the weight of the others."""
    copy = shutil.copytree(members[0], tmp_path / "copy")
    archives = [str(members[0]), str(members[1]), str(copy)]
    with pytest.raises(ConfigurationError, match=f"{copy} is the same model as {members[0]}"):
        ensemble_archives(archives, str(tmp_path / "ensemble.tar.gz"))


def test_no_file_is_replaced(members, tmp_path):
    """The output may be one of several models that a pattern names, or its only copy."""
    output = tmp_path / "model.tar.gz"
    output.write_text("another model")
    with pytest.raises(ConfigurationError, match=f"{output} exists already"):
        ensemble_archives([str(members[0])], str(output))
    assert output.read_text() == "another model"


def test_no_archives(tmp_path):
    with pytest.raises(ConfigurationError, match="at least one archive"):
        ensemble_archives([], str(tmp_path / "ensemble.tar.gz"))


def test_label_settings_are_the_members(tmp_path):
    one = sample("sentence_classifier")
    member = one.save(tmp_path / "member", positive_label="HUM")
    path = ensemble_archives([str(member)], str(tmp_path / "ensemble.tar.gz"))
    predictor = Predictor.from_path(path)
    assert predictor.predict_json({"sentence": "Who ?"})["sentence"] == "Who ?"
    predictor._model.forward_on_instances(one.instances)
    assert predictor._model.get_metrics().keys() == {"accuracy", "f1_HUM"}
