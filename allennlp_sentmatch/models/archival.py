"""Loading archives from untrusted sources."""

import json
import os
import pickle
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from glob import glob
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, Union

import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.meta import META_NAME
from allennlp.models import archival
from allennlp.models.archival import CONFIG_NAME, Archive, archive_model, get_weights_path
from torch import Tensor

from allennlp_sentmatch.data.files.digests import files_digest
from allennlp_sentmatch.models.archive_extraction import extracted_archive
from allennlp_sentmatch.models.registered_names import TRUST_HINT, registered_names_only

REFUSED_SETTINGS = {
    "_pretrained": "opens another archive",
    "archive_file": "opens another archive",
    "trust_remote_code": "runs code from a transformer's repository",
}
"""Settings that only a trusted configuration may have, and what each does."""


def load_archive(
    archive_file: Union[str, "os.PathLike[str]"],
    cuda_device: int = -1,
    trust: bool = False,
    **options: Any,
) -> Archive:
    """AllenNLP's `load_archive`, for archives from untrusted sources.

    Members are checked when they are extracted (`extract_archive`). The configuration must be plain
    JSON, as AllenNLP writes it, without jsonnet's `import` and `importstr`, and may name only
    registered components. These are still constructed with the settings that the author of the
    archive chose: see SECURITY.md.

    # Parameters

    archive_file : `Union[str, os.PathLike]`
        A path or URL of a `model.tar.gz`, or a serialization directory.
    cuda_device : `int`, optional (default = `-1`)
        The GPU to load to; -1 is the CPU.
    trust : `bool`, optional (default = `False`)
        Let the configuration be jsonnet, name any importable class and open other archives, as
        AllenNLP does: this can run any code.
    options
        Further arguments of `allennlp.models.archival.load_archive`.

    # Raises

    `ConfigurationError` for whatever is wrong with the archive, naming it; `FileNotFoundError` for
    a missing file.
    """
    path = cached_path(archive_file)
    with ExitStack() as stack:
        folder = str(path)
        if not os.path.isdir(folder):
            folder = stack.enter_context(extracted_archive(path))
        try:
            _check_files(folder, options.get("weights_file"))
            if not trust:
                _check_configuration(Path(folder) / CONFIG_NAME)
                stack.enter_context(registered_names_only())
            return archival.load_archive(folder, cuda_device=cuda_device, **options)
        except Exception as error:
            # Anything can be wrong with a file from elsewhere.
            raise ConfigurationError(
                f"{archive_file} cannot be loaded: {_problem(error, folder)}"
            ) from (None if isinstance(error, pickle.UnpicklingError) else error)


def copy_archive(
    archive_file: Union[str, "os.PathLike[str]"],
    output_file: Union[str, "os.PathLike[str]"],
    weights: Mapping[str, Tensor],
) -> None:
    """Write a new archive that differs from another one in its weights.

    # Parameters

    archive_file : `Union[str, os.PathLike]`
        A path or URL of a `model.tar.gz`, or a serialization directory, that `load_archive` has
        loaded.
    output_file : `Union[str, os.PathLike]`
        Where to write the new archive.
    weights : `Mapping[str, Tensor]`
        The model's `state_dict`.
    """
    path = cached_path(archive_file)
    with ExitStack() as stack:
        folder = str(path)
        if os.path.isdir(folder):
            others = _included_files(Path(folder))
        else:
            folder = stack.enter_context(extracted_archive(path))
            weights_name = os.path.basename(get_weights_path(folder))
            own = (CONFIG_NAME, META_NAME, "vocabulary", weights_name)
            others = [name for name in sorted(os.listdir(folder)) if name not in own]
        temporary = stack.enter_context(tempfile.TemporaryDirectory())
        weights_file = os.path.join(temporary, "weights.th")
        torch.save(dict(weights), weights_file)
        archive_model(folder, weights_file, output_file, others)


def archive_digest(archive_file: Union[str, "os.PathLike[str]"]) -> str:
    """A digest of an archive, or of what belongs to the archive in a serialization directory.

    That is the configuration, the vocabulary, the weights and `include_in_archive`.
    """
    path = Path(cached_path(archive_file))
    if not path.is_dir():
        return files_digest(path)
    included = [glob(str(path / pattern)) for pattern in _included_files(path)]
    return files_digest(
        *(path / CONFIG_NAME, path / "vocabulary", get_weights_path(path)),
        *sorted(chain.from_iterable(included)),
    )


def _included_files(folder: Path) -> list[str]:
    """The patterns of further files that a serialization directory's archive has."""
    config = Params.from_file(folder / CONFIG_NAME)
    names = [PurePath(name) for name in config.get("include_in_archive") or []]
    # A configuration from elsewhere must not take in other files of this machine.
    return [str(n) for n in names if not n.is_absolute() and ".." not in n.parts]


def _check_files(folder: str, weights_file: Any) -> None:
    weights = get_weights_path(folder) if weights_file is None else weights_file
    for path in (os.path.join(folder, CONFIG_NAME), weights, os.path.join(folder, "vocabulary")):
        if not os.path.exists(path):
            name = os.path.relpath(path, folder)
            if name == "best.th":  # where AllenNLP looks last
                name = "weights.th (or best.th, in a serialization directory)"
            raise ConfigurationError(f"there is no {name} in it")


def _check_configuration(file: Path) -> None:
    """Refuse jsonnet's imports, and other things that an untrusted configuration must not have."""
    try:
        config = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"its {CONFIG_NAME} is not plain JSON, and only a trusted one may be jsonnet "
            f"{TRUST_HINT}: {error}"
        ) from error
    for section in ("model", "dataset_reader"):
        if not isinstance(config, dict) or section not in config:
            raise ConfigurationError(f"its {CONFIG_NAME} has no section {section!r}")
    for setting in _settings(config):
        if setting in REFUSED_SETTINGS:
            raise ConfigurationError(
                f"the setting {setting!r} of its {CONFIG_NAME} {REFUSED_SETTINGS[setting]}; only a "
                f"trusted one may have it {TRUST_HINT}"
            )


def _settings(config: Any) -> Iterator[str]:
    """Yield the names of all settings, nested ones included."""
    if isinstance(config, dict):
        yield from config
        config = list(config.values())
    if isinstance(config, list):
        for value in config:
            yield from _settings(value)


def _problem(error: Exception, folder: str) -> str:
    """The error in one sentence, with paths relative to the archive."""
    if isinstance(error, pickle.UnpicklingError):
        # torch's own message advises to load it in a way that runs whatever is in it.
        return "its weights are damaged, or hold something other than tensors"
    if isinstance(error, UnicodeDecodeError):
        return f"{_undecodable_file(folder)} is not encoded in UTF-8"
    message = " ".join(str(error).split()) or type(error).__name__
    return message.replace(os.path.join(folder, ""), "")


def _undecodable_file(folder: str) -> str:
    for file in sorted(Path(folder, "vocabulary").iterdir()):
        try:
            file.read_text("utf-8")
        except UnicodeDecodeError:
            return os.path.relpath(file, folder)
    return "a file"
