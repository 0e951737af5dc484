"""Tests of `allennlp evaluate-generator`."""

import json

import pytest

from tests.models.samples import sample


def test_metrics_are_printed_and_written(
    allennlp, generator_archives, fixtures, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("allennlp.common.logging.FILE_FRIENDLY_LOGGING", False)
    generator, classifier = generator_archives
    metrics_file, pairs_file = tmp_path / "metrics.json", tmp_path / "pairs.jsonl"
    allennlp(
        "evaluate-generator", generator, fixtures / "data" / "snli.jsonl",
        "--classifier", classifier, "--output-file", metrics_file, "--file-friendly-logging",
        "--predictions-output-file", pairs_file,
    )  # fmt: skip
    printed = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    metrics = json.loads(metrics_file.read_text())
    assert metrics.keys() == {"accuracy", "distinct-1", "distinct-2"}
    assert {name: float(value) for name, value in printed.items()} == pytest.approx(
        metrics, abs=5e-5
    )
    pairs = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    again = list(sample("cs_lvm").reader.read(str(pairs_file)))
    assert [instance["label"].label for instance in again] == [pair["label"] for pair in pairs]
    right = sum(pair["label"] == pair["predicted_label"] for pair in pairs)
    assert metrics["accuracy"] == pytest.approx(right / len(pairs))
