"""The settings of a run, evaluated from a configuration and its overrides, and their digest.

A row of results names a configuration and overrides. Both are code: after a change to a file that
they import, the same names may evaluate to other settings. The digest detects this.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.params import with_overrides

from scripts.experiment_models import evaluated_together
from scripts.experiments import CONFIGURATIONS

SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")


def digest_of(config: Path, overrides: dict[str, Any]) -> str:
    """Return the digest of a configuration file with overrides."""
    params = Params.from_file(config, params_overrides=json.dumps(overrides))
    return _digest(params.as_dict(quiet=True))


def digests_of(experiments: Sequence[tuple[str, str]]) -> list[str]:
    """Return the digest of each pair of a configuration's name and the Jsonnet of its overrides.

    All are evaluated together, which takes a small part of the time: they share their imports.
    """
    number = len(experiments)
    files = [f"import '{CONFIGURATIONS / name}.jsonnet'" for name, _ in experiments]
    texts = [text or "{}" for _, text in experiments]
    values = evaluated_together([*files, *texts], dict(os.environ))
    return [
        _digest(with_overrides(configuration, overrides) if overrides else configuration)
        for configuration, overrides in zip(values[:number], values[number:])
    ]


def _digest(settings: dict[str, Any]) -> str:
    """Return 16 hexadecimal digits, which depend on the settings except the seeds."""
    without_seeds = {name: value for name, value in settings.items() if name not in SEEDS}
    text = json.dumps(without_seeds, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
