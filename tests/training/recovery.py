"""Trainings that are interrupted and recovered, and how they are compared."""

import json
import tarfile
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params

from tests.conftest import REPOSITORY, SMALL_QUICK_START

CONFIGURATIONS = {
    "quick_start": (
        "training_config/quick_start.jsonnet",
        {
            **SMALL_QUICK_START,
            "dataset_reader.max_instances": 64,
            "data_loader.batch_size": 16,
            "model.embedding_dropout": 0.3,
            "model.classifier.dropout": 0.3,
        },
    ),
    "cs_lvm": (
        "fixtures/models/cs_lvm.jsonnet",
        {"data_loader.batch_size": 1, "data_loader.num_labeled": 3},
    ),
}
"""A configuration and what makes it small, by name: four batches an epoch, dropout, shuffled."""


def params(name: str, **overrides: Any) -> Params:
    """The configuration `name` with other settings of its trainer."""
    path, small = CONFIGURATIONS[name]
    overrides = {f"trainer.{key}": value for key, value in overrides.items()}
    return Params.from_file(REPOSITORY / path, {**small, **overrides})


def outcome(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The weights in an archive, and the metrics but times and memory."""
    with tarfile.open(folder / "model.tar.gz") as archive:
        weights = torch.load(archive.extractfile("weights.th"))
    metrics = json.loads((folder / "metrics.json").read_text())
    varying = ("_MB", "duration", "training_start_epoch", "training_epochs")
    return weights, {k: v for k, v in metrics.items() if not k.endswith(varying)}


def assert_same_outcome(folder: Path, expected: Path, training_metrics: bool = True) -> None:
    """The same operations on the same shapes in the same order: equal bit for bit."""
    weights, metrics = outcome(folder)
    expected_weights, expected_metrics = outcome(expected)
    if not training_metrics:
        for values in (metrics, expected_metrics):
            for key in [key for key in values if key.startswith("training_")]:
                del values[key]
    assert metrics == expected_metrics
    assert weights.keys() == expected_weights.keys()
    different = [name for name in weights if not torch.equal(weights[name], expected_weights[name])]
    assert not different
