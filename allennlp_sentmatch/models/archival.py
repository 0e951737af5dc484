"""Loading archives with a look at what is in them first."""

import logging
import os
import tarfile
from pathlib import PurePosixPath
from typing import Any, Union

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.models import archival
from allennlp.models.archival import Archive

logger = logging.getLogger(__name__)


def check_archive(archive_file: Union[str, "os.PathLike[str]"]) -> None:
    """Refuse an archive that would write outside the folder it is extracted to.

    AllenNLP extracts every member as it is. A model's archive needs regular files and folders
    under relative paths, and nothing else.

    # Parameters

    archive_file : `Union[str, os.PathLike]`
        A local tar file.

    # Raises

    `ConfigurationError` for an absolute path, a path with `..`, a link or a device, naming the
    member; nothing has been extracted then. Also for a file that is not a gzipped tar.
    """
    try:
        with tarfile.open(archive_file, "r:gz") as archive:
            for member in archive:
                path = PurePosixPath(member.name)
                if path.is_absolute() or ".." in path.parts:
                    problem = "lies outside the archive"
                elif not (member.isreg() or member.isdir()):
                    problem = "is neither a regular file nor a folder"
                else:
                    continue
                raise ConfigurationError(
                    f"{archive_file}: the member {member.name!r} {problem}; a model's archive has "
                    "regular files under relative paths only, so it was not extracted"
                )
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ConfigurationError(
            f"{archive_file}: cannot be read as an archive (model.tar.gz): {error}"
        ) from error


def load_archive(
    archive_file: Union[str, "os.PathLike[str]"], cuda_device: int = -1, **options: Any
) -> Archive:
    """AllenNLP's `load_archive`, after `check_archive`.

    An archive's configuration may name any registered class, so it is code all the same: load
    archives of people you trust (SECURITY.md).

    # Parameters

    archive_file : `Union[str, os.PathLike]`
        A path or URL of a `model.tar.gz`, or a serialization directory.
    cuda_device : `int`, optional (default = `-1`)
        The GPU to load to; -1 is the CPU.
    options
        Further arguments of `allennlp.models.archival.load_archive`.
    """
    path = cached_path(archive_file)
    if not os.path.isdir(path):
        check_archive(path)
    return archival.load_archive(archive_file, cuda_device=cuda_device, **options)
