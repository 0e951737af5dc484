"""Make the models of the configurations under training_config/, and count their parameters.

The parameters are counted, without the word embeddings, in the model that a configuration makes on
the fixture data of fixtures/training_config/ (`<folder>.json`, one for each folder of
configurations). No pretrained weights are read and nothing is downloaded. A translation model's
output matrix, whose size depends on the vocabulary, is also left out. Other parts that depend on
the data's characters, tags and words (embeddings of the first two, a generator's output bias) are
smaller than on the published data.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Optional

from _jsonnet import evaluate_snippet
from allennlp.common import Params
from allennlp.common.params import with_overrides
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.models import EncoderDecoder
from scripts.experiments import CONFIGURATIONS, REPOSITORY, configurations

FIXTURES = REPOSITORY / "fixtures" / "training_config"

# The environment variables that configurations read; fixtures replace the files that they name.
_VARIABLES = {"CS_LVM_ARCHIVE": "model.tar.gz"}

_IMPORT = re.compile(r"\bimport '([^']+)'")


def on_fixtures(path: Path, overrides: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """Return the configuration at `path` with the fixture data and without pretrained weights.

    An epoch is a pass over these data, which also replace the data of the `overrides`.

    # Raises

    `ValueError` if it has no fixture data.
    """
    configuration = with_overrides(evaluated()[path], overrides or {})
    in_folder = path.parent != CONFIGURATIONS
    fixture = FIXTURES / f"{path.parent.name if in_folder else path.stem}.json"
    if fixture.exists():
        overrides = json.loads(fixture.read_text(encoding="utf-8"))
        configuration = with_overrides(configuration, overrides)
    for key, data_path in configuration.items():
        if key.endswith("_data_path") and "://" in str(data_path):
            raise ValueError(f"{path} has no fixture data as {key}: {fixture} would name it")
    _forget_pretrained(configuration)
    configuration.get("data_loader", {}).pop("batches_per_epoch", None)
    return configuration


@cache
def evaluated() -> dict[Path, dict[str, Any]]:
    """Return all configurations, as `Params.from_file` would read them one by one.

    For each file, jsonnet prepares its standard library, which takes most of the time. So all files
    and their imports are joined into one.
    """
    names: dict[Path, str] = {}
    locals_ = ["local call(x) = if std.isFunction(x) then x() else x;"]

    def variable(path: Path) -> str:
        if path not in names:
            text = _IMPORT.sub(
                lambda match: variable((path.parent / match[1]).resolve()),
                path.read_text(encoding="utf-8"),
            )
            names[path] = f"file_{len(names)}"
            locals_.append(f"local {names[path]} = (\n{text}\n);")
        return names[path]

    values = [f"call({variable(path)})" for path in configurations()]
    source = "\n".join([*locals_, f"[{', '.join(values)}]"])
    try:
        together = json.loads(evaluate_snippet("training_config", source, ext_vars=_VARIABLES))
    except RuntimeError:
        for path in configurations():  # this raises an error that names the file
            Params.from_file(str(path), ext_vars=_VARIABLES)
        raise
    return dict(zip(configurations(), together))


def _forget_pretrained(configuration: Any) -> None:
    """Set every `pretrained_file` in a configuration to null; make transformers random ones."""
    if isinstance(configuration, dict):
        if "pretrained_file" in configuration:
            configuration["pretrained_file"] = None
        if "model_name" in configuration:
            configuration["model_name"] = str(FIXTURES / "transformer")
        if "train_parameters" in configuration:  # an embedder's setting
            configuration["load_weights"] = False
        configuration = list(configuration.values())
    if isinstance(configuration, list):
        for value in configuration:
            _forget_pretrained(value)


def build_model(path: Path, overrides: Optional[dict[str, Any]] = None) -> Model:
    """Return a configuration's model, its vocabulary made from the fixture data."""
    configuration = on_fixtures(path, overrides)
    reader = DatasetReader.from_params(Params(configuration["dataset_reader"]))
    vocabulary = Vocabulary.from_params(
        Params(configuration.get("vocabulary", {})),
        instances=reader.read(configuration["train_data_path"]),
    )
    return Model.from_params(Params(configuration["model"]), vocab=vocabulary)


def count_parameters(model: Model) -> int:
    """Return the number of a model's trained parameters, without its word embeddings and, in a
    translation model, its output matrix.
    """
    of_words = ["token_embedder_tokens"]
    if isinstance(model, EncoderDecoder):
        of_words += ["_target_embedder.", "_output_layer."]
    return sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and not any(part in name for part in of_words)
    )
