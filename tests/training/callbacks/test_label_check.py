import json
import logging
from types import SimpleNamespace

import pytest
from allennlp.data.data_loaders import MultiProcessDataLoader

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.training.callbacks import LabelCheckCallback
from tests.conftest import REPOSITORY, SMALL_QUICK_START

LOGGER = "allennlp_sentmatch.training.callbacks.label_check"
HEADER = "sentence1\tsentence2\tlabel\n"


@pytest.fixture
def train(tmp_path, caplog, monkeypatch):
    """Trains the quick start's model on rows of labels; gives the label check's warnings."""
    from allennlp.commands.train import train_model_from_file

    # AllenNLP replaces the handlers of the root logger.
    monkeypatch.setattr(logging.getLogger(LOGGER), "handlers", [caplog.handler])
    monkeypatch.chdir(REPOSITORY)

    def train(training, validation, **overrides):
        settings = {**SMALL_QUICK_START, **overrides}
        for name, labels in [("train", training), ("validation", validation)]:
            path = tmp_path / f"{name}.tsv"
            path.write_text(HEADER + "".join(f"a\tb\t{label}\n" for label in labels))
            settings[f"{name}_data_path"] = str(path)
        train_model_from_file(
            "training_config/quick_start.jsonnet",
            tmp_path / "model",
            json.dumps(settings),
        )
        return [record.getMessage() for record in caplog.records if record.name == LOGGER]

    return train


def test_labels_that_can_be_learned(train):
    assert train(["yes", "no", "yes"], ["no"]) == []


def test_a_validation_label_that_training_lacks(train, tmp_path):
    warnings = train(["yes", "no", "yes"], ["no", "Yes", "Yes"])
    assert warnings == [
        "2 validation examples have the label 'Yes' (the first one in "
        f"{tmp_path / 'validation.tsv'}, line 3), which no training example has: the model cannot "
        "learn it; is it spelt as in the training data, which has ['no', 'yes']?"
    ]


def test_one_label_in_the_training_data(train):
    first, second = train(["yes", "yes"], ["no"])
    assert first.startswith("all 2 training examples have the label 'yes': the model can learn")
    assert second.startswith("1 validation examples have the label 'no' (the first one in ")


def test_data_that_are_not_in_memory(tmp_path, caplog):
    path = tmp_path / "pairs.tsv"
    path.write_text(HEADER + "a\tb\tyes\n" * 4)
    for limit, num_warnings in [(None, 1), (2, 0)]:
        loader = MultiProcessDataLoader(
            SentencePairReader("table"), path, batch_size=2, max_instances_in_memory=limit
        )
        trainer = SimpleNamespace(data_loader=loader, _validation_data_loader=None)
        caplog.clear()
        LabelCheckCallback(str(tmp_path)).on_start(trainer)
        assert len(caplog.records) == num_warnings


def test_without_the_default_callbacks(train):
    assert train(["yes"], ["no"], **{"trainer.enable_default_callbacks": False}) == []
