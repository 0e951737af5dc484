"""A substitute for `allennlp train`, which would take seconds to start, and studies that use it."""

import json
import os
import signal
import sys
import threading
import time
from collections import Counter

import pytest

from allennlp_sentmatch.tuning import SearchSpace, Tuner, training

STAND_IN = """
import json, os, sys, time
file, folder = sys.argv[1:]
configuration = json.load(open(file))
os.mkdir(folder)
print("the log")
with open(os.path.join(folder, "threads"), "w") as output:
    output.write(os.environ["OMP_NUM_THREADS"])
curves = json.load(open(os.path.join(configuration["curves"], "curves.json")))
curve = curves[str(configuration["trainer"]["optimizer"]["lr"])]
best = None
for epoch, figure in enumerate(curve):
    if figure == "hang":
        time.sleep(600)
    if isinstance(figure, str):
        sys.exit(figure)
    if best is None or figure > curve[best]:
        best = epoch
    metrics = {
        "epoch": epoch, "best_epoch": best, "training_duration": f"0:01:{30 * (epoch + 1)}.000000",
        "validation_accuracy": figure, "best_validation_accuracy": curve[best],
        "validation_loss": figure, "best_validation_loss": figure,
    }
    with open(os.path.join(folder, f"metrics_epoch_{epoch}.json"), "w") as output:
        json.dump(metrics, output)
"""


RATES = (0.1, 0.2, 0.4)
LR = "trainer.optimizer.lr"


def choices(*values):
    return SearchSpace({LR: {"type": "categorical", "choices": list(values)}})


ALL_RATES = choices(*RATES)


def metrics_of(figure):
    """The metrics of a training of one epoch, as AllenNLP writes them."""
    return {
        "epoch": 0,
        "best_epoch": 0,
        "training_duration": "0:01:30.000000",
        "validation_accuracy": figure,
        "best_validation_accuracy": figure,
    }


class Curves:
    """The validation figures of the substitute's trainings, after each epoch.

    A figure "hang" does not end, other strings are errors.
    """

    def __init__(self, folder):
        self._file = folder / "curves.json"
        self.configuration = {
            "curves": str(folder),
            "validation_data_path": "validation.tsv",
            "test_data_path": "test.tsv",
            "evaluate_on_test": True,
            "trainer": {"optimizer": {"type": "adam", "lr": 1.0}, "validation_metric": "+accuracy"},
        }

    def set(self, curves):
        """Set the curve of each learning rate."""
        self._file.write_text(json.dumps({str(rate): curve for rate, curve in curves.items()}))

    def set_all(self, curve):
        """Set the curve of all learning rates."""
        self.set(dict.fromkeys(RATES, curve))


@pytest.fixture
def curves(tmp_path, monkeypatch):
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    monkeypatch.setattr(
        training,
        "_command",
        lambda file, folder, packages: [sys.executable, "-I", "-S", str(script), file, folder],
    )
    monkeypatch.setattr(training, "POLLING_SECONDS", 0.01)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return Curves(tmp_path)


@pytest.fixture
def study(curves, tmp_path):
    """Makes a tuner of learning rates in the same folder."""

    def make(space=ALL_RATES, configuration=curves.configuration, **options):
        return Tuner(configuration, space, tmp_path / "study", **options)

    return make


@pytest.fixture
def interrupt(curves, study):
    """Interrupts a study in one of its trials; the trainings do not hang the next time."""

    def interrupt(trial, number=signal.SIGINT, num_trials=None, **options):
        curves.set_all([0.5, "hang"])
        interrupted = study(**options)

        def wait():
            while not (interrupted.folder / f"trials/{trial}/metrics_epoch_0.json").exists():
                time.sleep(0.01)
            os.kill(os.getpid(), number)

        threading.Thread(target=wait, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            interrupted.run(num_trials)
        curves.set_all([0.5])

    return interrupt


def states(report):
    return Counter((trial["state"], trial["values"][LR]) for trial in report["trials"])
