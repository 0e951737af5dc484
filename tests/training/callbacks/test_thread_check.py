"""Tests of the warning about too many threads: when it is given, and that it is given once."""

from types import SimpleNamespace

import pytest
import torch
from allennlp.training import gradient_descent_trainer

from allennlp_sentmatch.training.callbacks import ThreadCheckCallback, thread_check


@pytest.fixture
def on_machine(monkeypatch):
    """Makes a machine with some cores and load, and gives the texts of its warnings."""
    warnings = []
    monkeypatch.setattr(
        thread_check.logger, "warning", lambda text, *values: warnings.append(text % values)
    )

    def make(cores, threads, load):
        monkeypatch.setattr(thread_check.os, "cpu_count", lambda: cores)
        monkeypatch.setattr(thread_check.os, "getloadavg", lambda: (load, 0.0, 0.0))
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
        return warnings

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
    warnings = on_machine(cores, threads, load)
    started().on_epoch(CPU, {}, 0)
    assert warnings == []


def test_another_training_runs_already(on_machine):
    warnings = on_machine(cores=2, threads=2, load=3.1)
    callback = started()
    (warning,) = warnings
    assert warning.startswith("2 threads of this training and about 2 of other processes share 2 c")
    assert "OMP_NUM_THREADS=1" in warning
    callback.on_epoch(CPU, {}, 0)
    assert len(warnings) == 1


def test_another_training_begins_later(on_machine):
    warnings = on_machine(cores=2, threads=2, load=1.0)
    callback = started()
    on_machine(cores=2, threads=2, load=2.3)  # those of this training
    callback.on_epoch(CPU, {}, 0)
    assert warnings == []
    on_machine(cores=2, threads=2, load=4.0)
    callback.on_epoch(CPU, {}, 1)
    callback.on_epoch(CPU, {}, 2)
    assert len(warnings) == 1


def test_a_gpu_or_another_worker_of_the_same_training(on_machine):
    warnings = on_machine(cores=2, threads=2, load=9.0)
    started(GPU)
    started(is_primary=False)
    assert warnings == []


def test_every_training_has_it():
    assert ThreadCheckCallback in gradient_descent_trainer.DEFAULT_CALLBACKS
