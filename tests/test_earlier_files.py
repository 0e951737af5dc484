"""Archives and encoders that earlier commits wrote load, with equal predictions.

fixtures/earlier/record.py wrote them, and "classic" was written with AllenNLP's own pins. Its
estimators are of formats before the first release, which are refused.
"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from allennlp.predictors import Predictor

import allennlp_sentmatch
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.standalone import StandaloneEncoder
from tests.conftest import REPOSITORY

EARLIER = REPOSITORY / "fixtures" / "earlier"


def predictions(path: Path, inputs: Any) -> Any:
    """The predictions of the archive or encoder at a path."""
    if path.suffix == ".gz":
        predictor = Predictor.from_archive(load_archive(path))
        several = isinstance(inputs, list)
        return predictor.predict_batch_json(inputs) if several else predictor.predict_json(inputs)
    return StandaloneEncoder.load(path).encode(inputs).tolist()


def check_refusal(path: Path) -> None:
    """An estimator's error names the remedy."""
    estimator = getattr(allennlp_sentmatch, path.name.partition("-")[0])
    with pytest.raises(ValueError, match="fit the estimator again, and save it"):
        estimator.load(path)


def differences(found: Any, expected: Any, place: str) -> list[str]:
    """The places of `expected` where `found` has something else; it may have more keys."""
    if isinstance(expected, dict):
        pairs = [(key, found.get(key), value) for key, value in expected.items()]
    elif isinstance(expected, list) and len(found) == len(expected):
        pairs = [(index, *pair) for index, pair in enumerate(zip(found, expected))]
    elif found == (pytest.approx(expected, abs=1e-5) if type(expected) is float else expected):
        return []
    else:
        return [f"{place}: {found!r}, not {expected!r}"]
    return [line for key, *pair in pairs for line in differences(*pair, f"{place}[{key!r}]")]


@pytest.mark.parametrize("commit", sorted(path.stem for path in EARLIER.glob("*.json")))
def test_predictions_are_as_they_were(commit, tmp_path):
    with tarfile.open(EARLIER / f"{commit}.tar.xz") as archive:
        archive.extractall(tmp_path)
    recorded = json.loads((EARLIER / f"{commit}.json").read_text())
    assert recorded.keys() == {path.name for path in tmp_path.iterdir()}
    changed = []
    for name, (inputs, expected) in recorded.items():
        if name.startswith("Pair"):
            check_refusal(tmp_path / name)
            continue
        changed += differences(predictions(tmp_path / name, inputs), expected, name)[:3]
    assert not changed
