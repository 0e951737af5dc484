"""An archive trained on one stack predicts the same on the other.

The predictions in fixtures/stacks were recorded on the stack that trained the archive next to them:

    .venv/bin/python -m tests.test_stacks fixtures/stacks/today
    .venv-classic/bin/python -m tests.test_stacks fixtures/stacks/classic

The stack that runs this test must repeat both.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.predictors import Predictor

import allennlp_sentmatch  # noqa: F401  (registers the components)
from tests.conftest import SMALL_QUICK_START

PAIRS = [
    ("A small kitten is carrying a red rose.", "A cat is moving a flower."),
    ("A small kitten is carrying a red rose.", "A dog is guarding a book in the attic, or so."),
    ("Xyzzy.", "?"),
]


@pytest.mark.parametrize("stack", ["today", "classic"])
def test_predictions_of_the_other_stack_are_repeated(fixtures, stack):
    folder = fixtures / "stacks" / stack
    predictor = Predictor.from_path(folder / "model.tar.gz")
    for recorded in json.loads((folder / "predictions.json").read_text()):
        pair = (recorded["premise"], recorded["hypothesis"])  # one text is blank
        predicted = predictor.predict_instance(predictor._dataset_reader.text_to_instance(*pair))
        assert predicted["label_probs"] == pytest.approx(recorded["label_probs"], abs=1e-5)


def record(folder: Path) -> None:
    """Train model.tar.gz and write predictions.json."""
    config, overrides = "training_config/quick_start.jsonnet", json.dumps(SMALL_QUICK_START)
    with tempfile.TemporaryDirectory() as out:
        train_model_from_file(config, out, overrides, force=True)
        shutil.copy(Path(out, "model.tar.gz"), folder)
    predictor = Predictor.from_path(folder / "model.tar.gz")
    predictions = [
        {"premise": a, "hypothesis": b, "label_probs": predictor.predict(a, b)["label_probs"]}
        for a, b in PAIRS
    ]
    (folder / "predictions.json").write_text(json.dumps(predictions, indent=2) + "\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
