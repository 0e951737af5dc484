"""An ensemble is the mean of its members' probabilities; one archive made of several."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model_from_file
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.models.ensemble import Ensemble, ensemble_archives
from tests.conftest import REPOSITORY
from tests.models.samples import EMBEDDER, TWO_SENTENCES

ESIM = "fixtures/models/esim.jsonnet"
PAIR = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}

BOE = {"type": "boe", "embedding_dim": 4}
LSTM = {"type": "lstm", "input_size": 4, "hidden_size": 3}
INTEGRATOR = {"type": "lstm", "input_size": 9, "hidden_size": 2}
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


def test_pairs_by_position(vocab):
    siamese = {"type": "siamese_classifier", "matcher": "concat"}
    model = make(vocab, [{**MEMBERS[0], **siamese, "classifier": {"hidden_size": 3}}])
    output = model(*TWO_SENTENCES.values(), INPUTS["label"])
    expected = model.members[0](**TWO_SENTENCES, label=INPUTS["label"])
    for name in ("label_probs", "loss"):
        torch.testing.assert_close(output[name], expected[name])


def test_certain_members_do_not_make_an_infinite_loss(vocab):
    """One of three gives the label no chance that float32 could hold."""
    model = make(vocab)
    with torch.no_grad():
        model.members[0]._classifier.output_layer.bias += torch.tensor([0.0, 1000.0, 0.0])
    output = model(**INPUTS)
    assert output["member_probs"][0, 0, 2] == 0
    assert output["loss"].item() < 10


def test_impossible_members(vocab):
    with pytest.raises(ConfigurationError, match="at least one model"):
        make(vocab, [])
    other = {"type": "basic_classifier", "seq2vec_encoder": BOE, "text_field_embedder": EMBEDDER}
    with pytest.raises(ConfigurationError, match="member 1 is a BasicClassifier"):
        make(vocab, [MEMBERS[0], other])


def test_an_archive_asks_for_no_pretrained_vectors_again(vocab, tmp_path):
    """AllenNLP itself would look for the file of a member, which is in a list."""
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


def train(folder: Path, config: str = ESIM, **overrides: object) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        train_model_from_file(config, folder, json.dumps(overrides))
    return folder / "model.tar.gz"


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> list[Path]:
    """Two trainings with different seeds, and one of another encoder."""
    folder = tmp_path_factory.mktemp("members")
    subilstm = {"type": "subilstm", "input_size": 4, "hidden_size": 2}
    return [
        train(folder / "1", random_seed=1, pytorch_seed=1),
        train(folder / "2", random_seed=2, pytorch_seed=2),
        train(folder / "3", **{"model.encoder": subilstm}),
    ]


@pytest.fixture(scope="module")
def ensemble(archives, tmp_path_factory) -> Path:
    """The archive of their ensemble, without the archives that it was made of."""
    folder = tmp_path_factory.mktemp("ensemble")
    copies = [shutil.copy(archive, folder / f"{i}.tar.gz") for i, archive in enumerate(archives)]
    path = ensemble_archives(copies, str(folder / "ensemble.tar.gz"))
    for copy in copies:
        Path(copy).unlink()
    return Path(path)


def test_predictions_are_the_mean_of_the_members(archives, ensemble):
    predictor = Predictor.from_path(ensemble)
    output = predictor.predict_json(PAIR)
    members = [Predictor.from_path(archive).predict_json(PAIR) for archive in archives]
    probs = [member["label_probs"] for member in members]
    assert len(set(map(tuple, probs))) == 3
    assert output["member_probs"] == [pytest.approx(own, abs=1e-6) for own in probs]
    mean = [sum(of_label) / 3 for of_label in zip(*probs)]
    assert list(output["probs_by_label"].values()) == pytest.approx(mean, abs=1e-6)
    assert output.items() >= PAIR.items()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"vocabulary": {"min_count": {"tokens": 3}}}, "other.*differ in the namespace 'tokens'"),
        ({"dataset_reader.max_length": 40}, "dataset readers differ: .*40"),
    ],
)
def test_other_vocabularies_or_readers_cannot_be_combined(archives, tmp_path, overrides, message):
    other = train(tmp_path / "other", **overrides)
    with pytest.raises(ConfigurationError, match=message):
        ensemble_archives([str(archives[0]), str(other)], str(tmp_path / "ensemble.tar.gz"))
    assert not (tmp_path / "ensemble.tar.gz").exists()


def test_no_archives_and_unsafe_ones(tmp_path):
    with pytest.raises(ConfigurationError, match="at least one archive"):
        ensemble_archives([], str(tmp_path / "ensemble.tar.gz"))
    (tmp_path / "model.tar.gz").write_bytes(b"no archive")
    with pytest.raises(ConfigurationError, match="cannot be read as an archive"):
        ensemble_archives([str(tmp_path / "model.tar.gz")], str(tmp_path / "ensemble.tar.gz"))


def test_label_settings_are_the_members(tmp_path):
    config = "fixtures/models/sentence_classifier.jsonnet"
    archive = train(tmp_path / "member", config, **{"model.positive_label": "HUM"})
    path = ensemble_archives([str(archive)], str(tmp_path / "ensemble.tar.gz"))
    predictor = Predictor.from_path(path)
    assert predictor.predict_json({"sentence": "Who ?"})["sentence"] == "Who ?"
    predictor._model.forward_on_instances(
        list(predictor._dataset_reader.read(REPOSITORY / "fixtures/data/trec.label"))
    )
    assert predictor._model.get_metrics().keys() == {"accuracy", "f1_HUM"}
