"""A substitute for `allennlp train`, which would take seconds to start."""

import json
import sys

import pytest

from allennlp_sentmatch.tuning import training

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
