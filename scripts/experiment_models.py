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
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
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
_VARIABLES: Mapping[str, str] = MappingProxyType({"CS_LVM_ARCHIVE": "model.tar.gz"})

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
        of_fixture = json.loads(fixture.read_text(encoding="utf-8"))
        configuration = with_overrides(configuration, of_fixture)
    for key, data_path in configuration.items():
        if key.endswith("_data_path") and "://" in str(data_path):
            raise ValueError(f"{path} has no fixture data as {key}: {fixture} would name it")
    _forget_pretrained(configuration)
    configuration.get("data_loader", {}).pop("batches_per_epoch", None)
    return configuration


@cache
def evaluated() -> dict[Path, dict[str, Any]]:
    """Return all configurations, as `Params.from_file` would read them one by one."""
    paths = configurations()
    imports = [f"import '{path}'" for path in paths]
    try:
        together = evaluated_together(imports)
    except RuntimeError:
        for path in paths:  # with an error that names the file
            Params.from_file(str(path), ext_vars=dict(_VARIABLES))
        raise
    return dict(zip(paths, together))


def evaluated_together(
    expressions: Sequence[str], variables: Mapping[str, str] = _VARIABLES
) -> list[Any]:
    """Return the values of Jsonnet expressions; a function is called without arguments.

    Imports in the expressions are relative to the repository. `variables` are the external
    variables, by name; by default, those that configurations read are set.

    jsonnet prepares its standard library for each file that it reads, which takes most of the time.
    Therefore all expressions and their imports are joined into one.

    # Raises

    `RuntimeError` if an expression or a file is wrong.
    """
    names: dict[Path, str] = {}
    locals_ = ["local call(x) = if std.isFunction(x) then x() else x;"]

    def inlined(text: str, folder: Path) -> str:
        return _IMPORT.sub(lambda match: imported(match, folder), text)

    def imported(match: re.Match[str], folder: Path) -> str:
        path = (folder / match[1]).resolve()
        return variable(path) if path.exists() else match[0]  # for example in a comment

    def variable(path: Path) -> str:
        if path not in names:
            text = inlined(path.read_text(encoding="utf-8"), path.parent)
            names[path] = f"file_{len(names)}"
            locals_.append(f"local {names[path]} = (\n{text}\n);")
        return names[path]

    values = [f"call(({inlined(expression, REPOSITORY)}))" for expression in expressions]
    source = "\n".join([*locals_, f"[{', '.join(values)}]"])
    values_as_json = evaluate_snippet("training_config", source, ext_vars=dict(variables))
    found: list[Any] = json.loads(values_as_json)
    return found


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
