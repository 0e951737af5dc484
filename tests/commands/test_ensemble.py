"""The archive that `allennlp ensemble` writes is evaluated and used like any other."""

import json

import pytest
import torch

from allennlp_sentmatch.models.archival import copy_archive, load_archive
from tests.conftest import REPOSITORY


def test_the_archive_can_be_evaluated_and_used(allennlp, small_archive, tmp_path, capsys):
    ensemble = tmp_path / "ensemble.tar.gz"
    other = tmp_path / "other.tar.gz"
    weights = load_archive(small_archive).model.state_dict()
    copy_archive(small_archive, other, {**weights, "temperature": torch.tensor(2.0)})
    allennlp("ensemble", small_archive, other, "--output-file", ensemble)
    assert f"wrote {ensemble}, an ensemble of 2" in capsys.readouterr().out
    data = "fixtures/quick_start/test.tsv"
    metrics = tmp_path / "metrics.json"
    predictions = tmp_path / "predictions.jsonl"
    allennlp("evaluate", ensemble, data, "--output-file", metrics)
    allennlp(
        "predict", ensemble, data, "--use-dataset-reader", "--output-file", predictions, "--silent"
    )
    rows = [json.loads(line) for line in predictions.read_text().splitlines()]
    header, *lines = (REPOSITORY / data).read_text().splitlines()
    gold = [line.split("\t")[header.split("\t").index("label")] for line in lines]
    right = sum(row["label"] == label for row, label in zip(rows, gold))
    assert len(rows) == len(gold)
    assert json.loads(metrics.read_text())["accuracy"] == pytest.approx(right / len(gold))
