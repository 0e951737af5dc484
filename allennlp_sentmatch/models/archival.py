"""Loading archives from untrusted sources, and writing archives."""

import hashlib
import json
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from glob import glob
from pathlib import Path, PurePath
from typing import Any, Optional, Union

import torch
from allennlp.common import Params, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.meta import META_NAME
from allennlp.common.util import int_to_device
from allennlp.models import Model, archival
from allennlp.models.archival import CONFIG_NAME, Archive, archive_model, get_weights_path
from torch import Tensor

from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.folders import AnyPath, nested_settings
from allennlp_sentmatch.models.extraction import extracted_archive

REFUSED_SETTINGS = {
    "_pretrained": "opens another archive",
    "archive_file": "opens another archive",
    "trust_remote_code": "runs code from a transformer's repository",
}
"""Settings that only a trusted configuration may have, with their effects."""

TRUST_HINT = "(if you trust its author: --trust-archive, or trust=True)"
"""The remedy in errors about a configuration that may be harmless."""

_registered_only: ContextVar[bool] = ContextVar("registered_only", default=False)


def load_archive(
    archive_file: AnyPath,
    cuda_device: int = -1,
    trust: bool = False,
    *,
    overrides: Union[str, dict[str, Any]] = "",
    weights_file: Optional[str] = None,
) -> Archive:
    """Load an archive from an untrusted source, and otherwise as AllenNLP's `load_archive` does.

    Members are checked when they are extracted (`extract_archive`). The configuration must be plain
    JSON, as AllenNLP writes it, without jsonnet's `import` and `importstr`, and may name only
    registered components. The archive's author still chose their settings: see SECURITY.md.

    Raise `ConfigurationError`, which names the archive, or `FileNotFoundError` for a missing one.

    # Parameters

    archive_file : `Union[str, os.PathLike]`
        A path or URL of a `model.tar.gz`, or a serialization directory.
    trust : `bool`, optional (default = `False`)
        Let the configuration be jsonnet, name any importable class and open other archives, as
        AllenNLP does: this can run any code.
    cuda_device, overrides, weights_file : as in AllenNLP
    """
    int_to_device(cuda_device)  # report a missing GPU before errors that blame the archive
    with ExitStack() as stack:
        folder = _open_folder(archive_file, stack)
        try:
            _check_files(folder, weights_file)
            if not trust:
                _check_configuration(Path(folder) / CONFIG_NAME)
                stack.enter_context(registered_names_only())
            return archival.load_archive(folder, cuda_device, overrides, weights_file)
        except Exception as error:  # anything can be wrong with an untrusted file
            cause = None if isinstance(error, pickle.UnpicklingError) else error
            raise ConfigurationError(
                f"{archive_file} cannot be loaded: {_problem(error, folder)}"
            ) from cause


def copy_archive(
    archive_file: AnyPath, output_file: AnyPath, weights: Mapping[str, Tensor]
) -> None:
    """Write a copy of an archive, or of a serialization directory, with other weights.

    These are a model's `state_dict`; `load_archive` has loaded the original.
    """
    with ExitStack() as stack:
        folder = _open_folder(archive_file, stack)
        others = _further_files(archive_file, folder)
        temporary = stack.enter_context(tempfile.TemporaryDirectory())
        weights_file = os.path.join(temporary, "weights.th")
        torch.save(dict(weights), weights_file)
        archive_model(folder, weights_file, output_file, others)


def copy_included(archive_file: AnyPath, target: Path) -> list[str]:
    """Copy what `include_in_archive` added to an archive, or would add, to a folder.

    Return the names, or their patterns, in the folder.
    """
    with ExitStack() as stack:
        folder = _open_folder(archive_file, stack)
        names = _further_files(archive_file, folder)
        paths = [path for name in names for path in glob(os.path.join(folder, name))]
        for path in paths:
            copied = target / os.path.relpath(path, folder)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if os.path.isdir(path) else shutil.copyfile
            copy(path, copied)
    return names


def archive_training(folder: AnyPath) -> str:
    """Write the archive of a training that was interrupted or killed, and return its path.

    It holds the weights of the best epoch so far, `best.th`, and what the configuration's
    `include_in_archive` names, as at the end of a training. Raise `ConfigurationError` if no epoch
    has been completed.
    """
    weights = Path(folder) / "best.th"
    if not weights.exists():
        raise ConfigurationError(
            f"{weights} does not exist: no epoch of this training has been completed; continue it "
            "with allennlp train --recover"
        )
    return archive_model(folder, include_in_archive=_included_files(Path(folder)))


def archive_digest(archive_file: AnyPath) -> str:
    """Return a digest of an archive, or of what belongs to it in a serialization directory.

    That is the configuration, the vocabulary, the weights and `include_in_archive`.
    """
    path = Path(cached_path(archive_file))
    if not path.is_dir():
        return files_digest(path)
    patterns = _included_files(path)
    included = [file for pattern in patterns for file in glob(str(path / pattern))]
    return files_digest(
        path / CONFIG_NAME,
        path / "vocabulary",
        get_weights_path(path),
        *sorted(included),
    )


def weights_digest(model: Model) -> str:
    """Return the SHA-256 of a model's weights, 64 hexadecimal digits.

    Copies of an archive have the same one, and so have trainings with the same seeds.
    """
    digest = hashlib.sha256()
    for weights in model.state_dict().values():
        flat = weights.detach().cpu().contiguous().view(-1)
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def check_different(archive_files: Sequence[AnyPath], digests: Sequence[str]) -> None:
    """Raise `ConfigurationError` if two archives have the same weights, given as digests.

    A model that is given twice would count as two.
    """
    for position, digest in enumerate(digests):
        first = digests.index(digest)
        if first < position:
            raise ConfigurationError(
                f"{archive_files[position]} is the same model as {archive_files[first]}: it is a "
                "copy, or was trained with the same seeds; leave it out"
            )


def _open_folder(archive_file: AnyPath, stack: ExitStack) -> str:
    """Return a serialization directory, or an archive's members in a folder until `stack` ends."""
    path = str(cached_path(archive_file))
    if os.path.isdir(path):
        return path
    return stack.enter_context(extracted_archive(path))


def _further_files(archive_file: AnyPath, folder: str) -> list[str]:
    """Return the names, or their patterns, of what `include_in_archive` adds to an archive.

    `folder` is what `_open_folder` returned.
    """
    if os.path.isdir(cached_path(archive_file)):
        return _included_files(Path(folder))
    weights_name = os.path.basename(get_weights_path(folder))
    own = (CONFIG_NAME, META_NAME, "vocabulary", weights_name)
    return [name for name in sorted(os.listdir(folder)) if name not in own]


def _included_files(folder: Path) -> list[str]:
    """Return the patterns of further files that a serialization directory's archive has."""
    config = Params.from_file(folder / CONFIG_NAME)
    paths = [PurePath(name) for name in config.get("include_in_archive") or []]
    # An untrusted configuration must not include other files of this machine.
    return [str(path) for path in paths if not path.is_absolute() and ".." not in path.parts]


def _check_files(folder: str, weights_file: Any) -> None:
    """Raise `ConfigurationError` if an archive's folder lacks one of its parts."""
    weights = get_weights_path(folder) if weights_file is None else weights_file
    for path in (os.path.join(folder, CONFIG_NAME), weights, os.path.join(folder, "vocabulary")):
        if not os.path.exists(path):
            name = os.path.relpath(path, folder)
            if name == "best.th":  # the last place where AllenNLP looks
                name = "weights.th (or best.th, in a serialization directory)"
            raise ConfigurationError(f"there is no {name} in it")


def _check_configuration(file: Path) -> None:
    """Raise `ConfigurationError` for jsonnet, and for what an untrusted configuration may not have.

    It must have the sections of the model and of the reader.
    """
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
    for setting, _ in nested_settings(config):
        if setting in REFUSED_SETTINGS:
            raise ConfigurationError(
                f"the setting {setting!r} of its {CONFIG_NAME} {REFUSED_SETTINGS[setting]}; only a "
                f"trusted one may have it {TRUST_HINT}"
            )


def _problem(error: Exception, folder: str) -> str:
    """Return the error in one sentence, with paths relative to the archive."""
    if isinstance(error, pickle.UnpicklingError):
        # torch's own message recommends loading the file in a way that runs any code in it.
        return "its weights are damaged, or hold something other than tensors"
    if isinstance(error, UnicodeDecodeError):
        return "a file of its vocabulary is not encoded in UTF-8"
    message = " ".join(str(error).split()) or type(error).__name__
    return message.replace(os.path.join(folder, ""), "")


@contextmanager
def registered_names_only() -> Iterator[None]:
    """Refuse class paths in place of registered names.

    AllenNLP takes a `type` with a dot for the path of a class, imports its module and calls the
    class with the other settings, whatever it is: `{"type": "subprocess.Popen", "args": "..."}`.
    Within this context, such a name is a `ConfigurationError`.
    """
    token = _registered_only.set(True)
    try:
        yield
    finally:
        _registered_only.reset(token)


_resolve: Any = Registrable.resolve_class_name.__func__  # type: ignore[attr-defined]


def _resolve_class_name(cls: type[Registrable], name: str) -> tuple[Any, Optional[str]]:
    if _registered_only.get() and "." in name and name not in Registrable._registry[cls]:
        raise ConfigurationError(
            f"{name!r} is not a registered {cls.__name__}; only a trusted configuration may "
            f"name classes by their paths {TRUST_HINT}"
        )
    resolved: tuple[Any, Optional[str]] = _resolve(cls, name)
    return resolved


Registrable.resolve_class_name = classmethod(_resolve_class_name)  # type: ignore[assignment]
