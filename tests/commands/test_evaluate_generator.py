"""Tests of `allennlp evaluate-generator`."""

import json

import pytest


def test_metrics_are_printed_and_written(
    allennlp, generator_archives, fixtures, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("allennlp.common.logging.FILE_FRIENDLY_LOGGING", False)
    generator, classifier = generator_archives
    metrics_file = tmp_path / "metrics.json"
    allennlp(
        "evaluate-generator", generator, fixtures / "data" / "snli.jsonl",
        "--classifier", classifier, "--output-file", metrics_file, "--file-friendly-logging",
    )  # fmt: skip
    printed = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    metrics = json.loads(metrics_file.read_text())
    assert metrics.keys() == {"accuracy", "distinct-1", "distinct-2"}
    assert {name: float(value) for name, value in printed.items()} == pytest.approx(
        metrics, abs=5e-5
    )
