"""The settings of a run: what a configuration and its overrides evaluate to, and their digest.

A row of results names a configuration and overrides. Both are code: the same names may evaluate to
other settings after a change of a file that they import. The digest tells whether they do.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from allennlp.common import Params

SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")


def evaluated(config: Path, overrides: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a configuration with overrides, without the seeds."""
    params = Params.from_file(config, params_overrides=json.dumps(overrides))
    settings: dict[str, Any] = params.as_dict(quiet=True)
    return {name: value for name, value in settings.items() if name not in SEEDS}


def digest_of(config: Path, overrides: dict[str, Any]) -> str:
    """Return 16 hexadecimal digits, the same ones for the same settings whatever the seeds."""
    text = json.dumps(evaluated(config, overrides), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
