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

import _jsonnet
from allennlp.common import Params
from allennlp.common.params import with_overrides

from scripts.experiments import CONFIGURATIONS

SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")


def digest_of(config: Path, overrides: dict[str, Any]) -> str:
    """Return the digest of a configuration file with overrides."""
    params = Params.from_file(config, params_overrides=json.dumps(overrides))
    return _digest(params.as_dict(quiet=True))


def digests_of(experiments: Sequence[tuple[str, str]]) -> list[str]:
    """Return the digest of each pair of a configuration's name and the Jsonnet of its overrides.

    Evaluating all of them together takes a tenth of the time, since they share most of their
    imports.
    """
    return [
        _digest(with_overrides(configuration, overrides) if overrides else configuration)
        for configuration, overrides in zip(*_evaluated(experiments))
    ]


def _evaluated(
    experiments: Sequence[tuple[str, str]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the evaluated configurations and overrides, as two lists."""
    files = [str(CONFIGURATIONS / f"{name}.jsonnet") for name, _ in experiments]
    imports = ", ".join(f"complete(import {json.dumps(file)})" for file in files)
    texts = ", ".join(f"({text or '{}'})" for _, text in experiments)
    snippet = (
        "local complete(value) = if std.isFunction(value) then value() else value; "
        f"[[{imports}], [{texts}]]"
    )
    evaluated = _jsonnet.evaluate_snippet("", snippet, ext_vars=dict(os.environ))
    configurations, overrides = json.loads(evaluated)
    return configurations, overrides


def _digest(settings: dict[str, Any]) -> str:
    """Return 16 hexadecimal digits, which depend on the settings except the seeds."""
    without_seeds = {name: value for name, value in settings.items() if name not in SEEDS}
    text = json.dumps(without_seeds, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
