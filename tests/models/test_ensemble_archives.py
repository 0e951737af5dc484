"""Making one archive of several."""

import json
import shutil
from pathlib import Path

import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.models.ensemble import ensemble_archives
from tests.conftest import REPOSITORY

ESIM = "fixtures/models/esim.jsonnet"
PAIR = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}


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
    assert len({tuple(member["label_probs"]) for member in members}) == 3
    for label, probability in output["probs_by_label"].items():
        mean = sum(member["probs_by_label"][label] for member in members) / 3
        assert probability == pytest.approx(mean, abs=1e-6)
    for own, member in zip(output["member_probs"], members):
        assert own == pytest.approx(member["label_probs"], abs=1e-6)
    assert output.items() >= PAIR.items()


def test_a_serialization_directory_is_accepted(archives, tmp_path):
    path = ensemble_archives([str(archives[0].parent)], str(tmp_path / "one.tar.gz"))
    alone, one = (
        Predictor.from_path(archive).predict_json(PAIR) for archive in (archives[0], path)
    )
    assert one["label_probs"] == pytest.approx(alone["label_probs"], abs=1e-6)


def test_other_vocabularies_cannot_be_combined(archives, tmp_path):
    other = train(tmp_path / "other", **{"vocabulary": {"min_count": {"tokens": 3}}})
    with pytest.raises(ConfigurationError, match=r"other.*differ in the namespace 'tokens'"):
        ensemble_archives([str(archives[0]), str(other)], str(tmp_path / "ensemble.tar.gz"))
    assert not (tmp_path / "ensemble.tar.gz").exists()


def test_other_readers_cannot_be_combined(archives, tmp_path):
    other = train(tmp_path / "other", **{"dataset_reader.max_length": 40})
    with pytest.raises(ConfigurationError, match=r"dataset readers differ: .*40"):
        ensemble_archives([str(archives[0]), str(other)], str(tmp_path / "ensemble.tar.gz"))


def test_rankers_cannot_be_members(tmp_path):
    ranker = train(tmp_path / "ranker", "fixtures/models/attentive_ranker.jsonnet")
    with pytest.raises(ConfigurationError, match="member 0 is a AttentiveRanker"):
        ensemble_archives([str(ranker)], str(tmp_path / "ensemble.tar.gz"))
    with pytest.raises(ConfigurationError, match="at least one archive"):
        ensemble_archives([], str(tmp_path / "ensemble.tar.gz"))


def test_unsafe_archives_are_refused(tmp_path):
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
