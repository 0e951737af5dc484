"""Loading archives from untrusted sources.

Importing this module replaces AllenNLP's extraction, which writes every member wherever its name
says: all code that opens an archive then uses `extract_archive`.
"""

import gzip
import json
import logging
import os
import pickle
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from glob import glob
from itertools import chain
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Optional, Union

import torch
from allennlp.common import Params, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.meta import META_NAME
from allennlp.common.util import int_to_device
from allennlp.models import archival
from allennlp.models.archival import CONFIG_NAME, Archive, archive_model, get_weights_path
from torch import Tensor

from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.folders import nested_settings

logger = logging.getLogger(__name__)

AnyPath = Union[str, "os.PathLike[str]"]

REFUSED_SETTINGS = {
    "_pretrained": "opens another archive",
    "archive_file": "opens another archive",
    "trust_remote_code": "runs code from a transformer's repository",
}
"""Settings that only a trusted configuration may have, with their effects."""

TRUST_HINT = "(if you trust its author: --trust-archive, or trust=True)"
"""The remedy in errors about a configuration that may be harmless."""

MAX_EXPANSION_VARIABLE = "SENTMATCH_MAX_EXPANSION"
"""The environment variable that sets how many times its own size an archive may unpack to."""

MAX_EXPANSION = 20.0
"""The default. Compression hardly shrinks trained weights, and text to about a quarter."""

ALWAYS_ALLOWED = 64 << 20
"""The unpacked bytes that any archive may have: a small model's weights can be mostly zeros."""

_registered_only: ContextVar[bool] = ContextVar("registered_only", default=False)


def load_archive(
    archive_file: AnyPath,
    cuda_device: int = -1,
    trust: bool = False,
    *,
    overrides: Union[str, dict[str, Any]] = "",
    weights_file: Optional[str] = None,
) -> Archive:
    """AllenNLP's `load_archive`, for archives from untrusted sources.

    Members are checked when they are extracted (`extract_archive`). The configuration must be plain
    JSON, as AllenNLP writes it, without jsonnet's `import` and `importstr`, and may name only
    registered components. The archive's author still chose their settings: see SECURITY.md.

    Raises a `ConfigurationError` that names the archive, or `FileNotFoundError` for a missing one.

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
        except Exception as error:
            # Anything can be wrong with an untrusted file.
            raise ConfigurationError(
                f"{archive_file} cannot be loaded: {_problem(error, folder)}"
            ) from (None if isinstance(error, pickle.UnpicklingError) else error)


def copy_archive(
    archive_file: AnyPath, output_file: AnyPath, weights: Mapping[str, Tensor]
) -> None:
    """Write a copy of an archive, or of a serialization directory, with other weights. These are a
    model's `state_dict`; `load_archive` has loaded the original.
    """
    with ExitStack() as stack:
        folder = _open_folder(archive_file, stack)
        if os.path.isdir(cached_path(archive_file)):
            others = _included_files(Path(folder))
        else:
            weights_name = os.path.basename(get_weights_path(folder))
            own = (CONFIG_NAME, META_NAME, "vocabulary", weights_name)
            others = [name for name in sorted(os.listdir(folder)) if name not in own]
        temporary = stack.enter_context(tempfile.TemporaryDirectory())
        weights_file = os.path.join(temporary, "weights.th")
        torch.save(dict(weights), weights_file)
        archive_model(folder, weights_file, output_file, others)


def archive_training(folder: AnyPath) -> str:
    """Write the archive of a training that was interrupted or killed, and return its path.

    It holds the weights of the best epoch so far, `best.th`, and what the configuration's
    `include_in_archive` names, as at the end of a training. Raises a `ConfigurationError` if no
    epoch has been completed.
    """
    weights = Path(folder) / "best.th"
    if not weights.exists():
        raise ConfigurationError(
            f"{weights} does not exist: no epoch of this training has been completed; continue it "
            "with allennlp train --recover"
        )
    return archive_model(folder, include_in_archive=_included_files(Path(folder)))


def archive_digest(archive_file: AnyPath) -> str:
    """Return a digest of an archive, or of what belongs to the archive in a serialization
    directory.

    That is the configuration, the vocabulary, the weights and `include_in_archive`.
    """
    path = Path(cached_path(archive_file))
    if not path.is_dir():
        return files_digest(path)
    included = [glob(str(path / pattern)) for pattern in _included_files(path)]
    return files_digest(
        path / CONFIG_NAME,
        path / "vocabulary",
        get_weights_path(path),
        *sorted(chain.from_iterable(included)),
    )


def _open_folder(archive_file: AnyPath, stack: ExitStack) -> str:
    """Return a serialization directory, or a folder with an archive's members until `stack`
    ends.
    """
    path = str(cached_path(archive_file))
    return path if os.path.isdir(path) else stack.enter_context(extracted_archive(path))


def _included_files(folder: Path) -> list[str]:
    """Return the patterns of further files that a serialization directory's archive has."""
    config = Params.from_file(folder / CONFIG_NAME)
    names = [PurePath(name) for name in config.get("include_in_archive") or []]
    # An untrusted configuration must not include other files of this machine.
    return [str(n) for n in names if not n.is_absolute() and ".." not in n.parts]


def _check_files(folder: str, weights_file: Any) -> None:
    weights = get_weights_path(folder) if weights_file is None else weights_file
    for path in (os.path.join(folder, CONFIG_NAME), weights, os.path.join(folder, "vocabulary")):
        if not os.path.exists(path):
            name = os.path.relpath(path, folder)
            if name == "best.th":  # the last place where AllenNLP looks
                name = "weights.th (or best.th, in a serialization directory)"
            raise ConfigurationError(f"there is no {name} in it")


def _check_configuration(file: Path) -> None:
    """Raise an error for jsonnet's imports, and anything else forbidden in untrusted
    configurations.
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
    Within this context, `ConfigurationError` is raised for a name that is not registered.
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


def extract_archive(archive_file: AnyPath, folder: AnyPath) -> None:
    """Extract an archive, each member after a check.

    A model's archive is a local, gzipped tar file, with only regular files and folders under
    relative paths. Files that were extracted before an error stay in the folder.

    Raises a `ConfigurationError` for a member with an absolute path or with `..` in it, a link or a
    device; for an archive that unpacks to more than `SENTMATCH_MAX_EXPANSION` times its size (20 by
    default) and more than 64 MiB; and for a file that is not a gzipped tar.
    """
    expansion = _max_expansion()
    limit = max(int(expansion * os.path.getsize(archive_file)), ALWAYS_ALLOWED)
    too_large = (
        f"{archive_file} unpacks to more than {limit >> 20} MiB, which is suspicious for its size; "
        f"if it is what you expect, set the environment variable {MAX_EXPANSION_VARIABLE} to a "
        f"number larger than {expansion:g}"
    )
    # Python's filter checks again, in versions that have it.
    options: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    size = 0
    try:
        with gzip.open(archive_file) as file:
            # The stream is also limited, since a header can be as long as a file.
            reader: Any = _LimitedReader(file, limit, too_large)
            with tarfile.open(fileobj=reader, mode="r|") as archive:
                for member in archive:
                    _check_member(archive_file, member)
                    size += member.size
                    if size > limit:
                        raise ConfigurationError(too_large)
                    archive.extract(member, folder, set_attrs=False, **options)
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise ConfigurationError(
            f"{archive_file} cannot be read as an archive (model.tar.gz): {error}"
        ) from error


class _LimitedReader:
    """A file that refuses to give more than `limit` bytes."""

    def __init__(self, file: gzip.GzipFile, limit: int, message: str) -> None:
        self._file = file
        self._left = limit
        self._message = message

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ConfigurationError(self._message)
        return data


def _check_member(archive_file: AnyPath, member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        problem = "lies outside the archive"
    elif not (member.isreg() or member.isdir()):
        problem = "is neither a regular file nor a folder"
    else:
        return
    raise ConfigurationError(
        f"{archive_file}: the member {member.name!r} {problem}; a model's archive has regular "
        "files under relative paths only, so it was not extracted"
    )


def _max_expansion() -> float:
    value = os.environ.get(MAX_EXPANSION_VARIABLE, str(MAX_EXPANSION))
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 1 <= number < float("inf"):
        raise ConfigurationError(
            f"{MAX_EXPANSION_VARIABLE} must be a number of at least 1, got {value!r}"
        )
    return number


@contextmanager
def extracted_archive(resolved_archive_file: AnyPath, cleanup: bool = True) -> Iterator[str]:
    """Return a temporary folder with an archive's members; replaces AllenNLP's function.

    With `cleanup`, and after an error, the folder is removed at the end.
    """
    folder = tempfile.mkdtemp()
    try:
        logger.info("extracting %s to %s", resolved_archive_file, folder)
        extract_archive(resolved_archive_file, folder)
        yield folder
    except BaseException:
        cleanup = True
        raise
    finally:
        if cleanup:
            shutil.rmtree(folder, ignore_errors=True)


Registrable.resolve_class_name = classmethod(_resolve_class_name)  # type: ignore[assignment]
archival.extracted_archive = extracted_archive
