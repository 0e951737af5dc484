"""`allennlp calibrate` hands its options to `calibrate_archive`."""

import json
from types import SimpleNamespace

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch import calibration


@pytest.fixture
def called(monkeypatch):
    """The arguments of each call of `calibrate_archive`, which returns a report with a line."""
    calls = []

    def calibrate_archive(*arguments):
        calls.append(arguments)
        return SimpleNamespace(lines=lambda: ["temperature 2"])

    monkeypatch.setattr(calibration, "calibrate_archive", calibrate_archive)
    return calls


def test_defaults(allennlp, called, capsys):
    allennlp("calibrate", "model.tar.gz", "held_out.tsv", "out")
    assert called == [("model.tar.gz", "held_out.tsv", "out", None, None, None, -1, False)]
    assert capsys.readouterr().out == "temperature 2\n\nwrote out/model.tar.gz\n"


def test_every_option(allennlp, called):
    part = {"path": "train.tsv", "folds": {"number": 10, "keep": [0]}}
    allennlp(
        "calibrate", "model.tar.gz", json.dumps(part), "out", "--test-file", "test.tsv",
        "--positive-label", "1", "--precision", "0.95", "--cuda-device", "0", "--trust-archive",
    )  # fmt: skip
    assert called == [("model.tar.gz", part, "out", "test.tsv", 0.95, "1", 0, True)]


def test_a_data_path_that_is_not_json(allennlp, called):
    with pytest.raises(ConfigurationError, match="the data path: not valid JSON"):
        allennlp("calibrate", "model.tar.gz", '{"path": ', "out")
