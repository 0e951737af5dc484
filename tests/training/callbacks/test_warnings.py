import json
import logging
from types import SimpleNamespace

import pytest
import torch
from allennlp.commands.train import train_model_from_file
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.training import gradient_descent_trainer

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.training.callbacks import (
    LabelCheckCallback,
    ThreadCheckCallback,
    warnings,
)
from tests.conftest import REPOSITORY, SMALL_QUICK_START

LOGGER = "allennlp_sentmatch.training.callbacks.warnings"
HEADER = "sentence1\tsentence2\tlabel\n"


@pytest.fixture
def train(tmp_path, caplog, monkeypatch):
    """Trains the quick start's model on rows of labels; gives the label check's warnings."""
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
        validation = MultiProcessDataLoader(SentencePairReader("table"), path, batch_size=2)
        trainer = SimpleNamespace(data_loader=loader, _validation_data_loader=validation)
        caplog.clear()
        LabelCheckCallback(str(tmp_path)).on_start(trainer)
        assert len(caplog.records) == num_warnings


def test_without_the_default_callbacks(train):
    assert train(["yes"], ["no"], **{"trainer.enable_default_callbacks": False}) == []


@pytest.fixture
def on_machine(monkeypatch):
    """Makes a machine with some cores and load, and gives the texts of its warnings."""
    given = []
    monkeypatch.setattr(
        warnings.logger, "warning", lambda text, *values: given.append(text % values)
    )

    def make(cores, threads, load):
        monkeypatch.setattr(warnings.os, "cpu_count", lambda: cores)
        monkeypatch.setattr(warnings.os, "getloadavg", lambda: (load, 0.0, 0.0))
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
        return given

    return make


CPU = SimpleNamespace(cuda_device=torch.device("cpu"))
GPU = SimpleNamespace(cuda_device=torch.device("cuda", 0))


def started(trainer=CPU, is_primary=True):
    callback = ThreadCheckCallback("")
    callback.on_start(trainer, is_primary)
    return callback


@pytest.mark.parametrize(
    ("cores", "threads", "load"),
    [(2, 2, 1.4), (2, 1, 9.0), (8, 4, 6.0), (64, 64, 10.0), (1, 1, 0.0)],
)
def test_there_are_cores_enough_or_there_is_one_thread(on_machine, cores, threads, load):
    given = on_machine(cores, threads, load)
    started().on_epoch(CPU, {}, 0)
    assert given == []


def test_another_training_runs_already(on_machine):
    given = on_machine(cores=2, threads=2, load=3.1)
    callback = started()
    (warning,) = given
    assert warning.startswith("2 threads of this training and about 2 of other processes share 2 c")
    assert "OMP_NUM_THREADS=1" in warning
    callback.on_epoch(CPU, {}, 0)
    assert len(given) == 1


def test_another_training_begins_later(on_machine):
    given = on_machine(cores=2, threads=2, load=1.0)
    callback = started()
    on_machine(cores=2, threads=2, load=2.3)  # those of this training
    callback.on_epoch(CPU, {}, 0)
    assert given == []
    on_machine(cores=2, threads=2, load=4.0)
    callback.on_epoch(CPU, {}, 1)
    callback.on_epoch(CPU, {}, 2)
    assert len(given) == 1


def test_a_gpu_or_another_worker_of_the_same_training(on_machine):
    given = on_machine(cores=2, threads=2, load=9.0)
    started(GPU)
    started(is_primary=False)
    assert given == []


def test_every_training_has_it():
    assert ThreadCheckCallback in gradient_descent_trainer.DEFAULT_CALLBACKS
