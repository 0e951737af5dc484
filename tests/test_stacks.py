"""An archive trained on one stack predicts the same on the other.

The predictions in fixtures/stacks were recorded on the stack that trained the archive next to them
(scripts/make_stack_fixture.py). The stack that runs this test must repeat both.
"""

import json

import pytest
from allennlp.predictors import Predictor


@pytest.mark.parametrize("stack", ["today", "classic"])
def test_predictions_of_the_other_stack_are_repeated(fixtures, stack):
    folder = fixtures / "stacks" / stack
    predictor = Predictor.from_path(folder / "model.tar.gz")
    for recorded in json.loads((folder / "predictions.json").read_text()):
        predicted = predictor.predict(recorded["premise"], recorded["hypothesis"])
        assert predicted["label_probs"] == pytest.approx(recorded["label_probs"], abs=1e-5)
