"""The places of the tasks' files in a folder of data sets."""

from pathlib import Path
from typing import Optional

from allennlp.common.checks import ConfigurationError

SUBFOLDERS = {
    "MR": ("mr",),
    "CR": ("cr",),
    "SUBJ": ("subj",),
    "MPQA": ("mpqa",),
    "SST": ("sst",),
    "TREC": ("trec",),
    "MRPC": ("mrpc", "msrp"),
    "SICK": ("sick",),
    "STS-B": ("stsb", "sts/stsbenchmark"),
}
"""The subfolders in which a data set may be, in upper or lower case."""


def find_file(folder: Path, data_set: str, name: str) -> Path:
    """The file of a data set, gzip-compressed or not.

    # Raises

    `ConfigurationError` if it is not there, naming the paths that were looked for.
    """
    for subfolder in SUBFOLDERS[data_set]:
        found = _subfolder(folder, subfolder)
        for path in (found / name, found / f"{name}.gz") if found is not None else ():
            if path.is_file():
                return path
    wanted = " or ".join(f"{subfolder}/{name}" for subfolder in SUBFOLDERS[data_set])
    raise ConfigurationError(f"{folder}: there is no {wanted}, gzip-compressed or not")


def _subfolder(folder: Path, path: str) -> Optional[Path]:
    """The folder at a relative path, of which upper and lower case do not matter."""
    found: Optional[Path] = folder
    for name in path.split("/"):
        if found is None or not found.is_dir():
            return None
        entries = sorted(found.iterdir())
        found = next((entry for entry in entries if entry.name.lower() == name), None)
    return found
