"""The reader that an error names."""

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader

import allennlp_sentmatch  # noqa: F401  (registers the readers)
from tests.conftest import REPOSITORY

READERS = [
    {"type": "sentence_pair", "format": "table", "sentence1": "a", "sentence2": "b", "label": "c"},
    {"type": "parallel_text"},
]


@pytest.mark.parametrize("settings", READERS, ids=lambda settings: settings["type"])
@pytest.mark.parametrize(
    ("section", "is_named"), [("validation_dataset_reader", True), ("dataset_reader", False)]
)
def test_an_error_names_the_other_reader(settings, section, is_named, tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("x\ty\tz\nA man.\tA dog.\tno\n")
    reader = DatasetReader.from_params(Params({section: dict(settings)})[section])
    with pytest.raises(ConfigurationError, match=r"data\.tsv") as caught:
        list(reader.read(path))
    assert ("read by the validation_dataset_reader" in caught.value.message) == is_named


def test_a_training_with_one_reader_overridden(tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    own = tmp_path / "own.jsonl"
    own.write_text('{"frage": "Who slept?", "text": "The fox slept.", "answers": ["the fox"]}\n')
    reader = {"type": "reading_comprehension", "format": "table"}
    configuration = Params.from_file("fixtures/models/rnet.jsonnet").as_dict()
    configuration["validation_dataset_reader"] = configuration["dataset_reader"]
    configuration["dataset_reader"] = {**reader, "question": "frage", "passage": "text"}
    configuration["train_data_path"] = configuration["validation_data_path"] = str(own)
    with pytest.raises(
        ConfigurationError,
        match=r"there is no column 'question'.*\(read by the validation_dataset_reader",
    ):
        train_model(Params(configuration), tmp_path / "model")
