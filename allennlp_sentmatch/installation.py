"""Install AllenNLP 2.10.1 with the installed version of torch.

    python -m allennlp_sentmatch install-allennlp

AllenNLP's last release is from October 2022. Its metadata forbid later versions of torch,
transformers, spaCy and others, so `pip install allennlp` replaces current packages or fails. This
command installs AllenNLP without those limits, the packages that it imports in versions with which
it works, and a module of this package (`site_packages/allennlp_torch_support.py`). It needs only
Python's standard library, since it runs before AllenNLP is installed.
"""

import base64
import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from traceback import walk_tb
from typing import Optional

from allennlp_sentmatch.registration import INSTALL_COMMAND
from allennlp_sentmatch.version import __version__

ALLENNLP_VERSION = "2.10.1"

REQUIREMENTS = (
    "base58>=2.1.1",
    "cached-path>=1.1.3",
    "dill>=0.3.4",
    "fairscale==0.4.6",
    "filelock>=3.3",
    "h5py>=3.6.0",
    "huggingface-hub>=0.23.2,<1",
    "jsonnet>=0.10.0; sys_platform != 'win32'",
    "lmdb>=1.2.1",
    "more-itertools>=8.12.0",
    "nltk>=3.6.5",
    "numpy>=1.22",
    "protobuf>=3.12.0",
    "pytest>=6.2.5",  # every `allennlp` command imports allennlp.common.testing
    "requests>=2.28",
    "sacremoses",
    "scikit-learn>=1.0.1",
    "scipy>=1.7.3",
    "sentencepiece>=0.1.96",
    "spacy>=3.3",
    "tensorboardX>=1.2",
    "termcolor>=1.1.0",
    "tqdm>=4.62",
    "traitlets>5.1.1",
    "transformers>=4.30,<4.47",
    "typer>=0.4.1",
)
"""AllenNLP's requirements except torch, in versions with which it works."""

NEWEST_PYTHON = (3, 13)
OLDEST_TORCH = (1, 12)
TORCH_WITH_NUMPY_2 = (2, 3)
OLDEST_PIP = (22, 2)  # the first pip with `--dry-run` and `--report`

NO_CONFLICTS = "No broken requirements found."  # the output of `pip check` if there are none

SUPPORT = "allennlp-torch-support"
SUPPORT_SOURCE = Path(__file__).with_name("site_packages") / "allennlp_torch_support.py"


class InstallationError(Exception):
    """AllenNLP cannot be installed here; the message says why and what to do."""


@dataclass(frozen=True)
class Change:
    """A package that will be installed, in place of the version `before` if there is one."""

    name: str
    version: str
    before: Optional[str]

    def __str__(self) -> str:
        return f"{self.name} {self.before} -> {self.version}" if self.before else self.pin

    @property
    def pin(self) -> str:
        """The change as a requirement."""
        return f"{self.name}=={self.version}"


def install_allennlp(constraints: Optional[Path] = None, dry_run: bool = False) -> None:
    """Install AllenNLP and the packages that it imports into the current environment.

    A pip `constraints` file may fix versions; a `dry_run` only prints what would be installed. What
    is installed, and what `pip check` says, is printed.

    Raise `InstallationError`, of one sentence, if AllenNLP cannot work in the environment.
    """
    check_environment()
    print(
        f"Python {sys.version.split()[0]}, torch {metadata.version('torch')}; "
        f"the environment is {sys.prefix}"
    )
    changes = plan(constraints)
    if not changes:
        print(f"AllenNLP {ALLENNLP_VERSION} and all that it imports are installed already.")
    else:
        verb = "Would install" if dry_run else "Installing"
        print(f"{verb} (torch is not touched):\n  " + "\n  ".join(map(str, changes)), flush=True)
    if dry_run:
        return
    _apply(changes)
    reason = _failure_of("import allennlp.commands, allennlp_sentmatch.commands")
    if reason is not None:
        raise InstallationError(f"all is installed, but AllenNLP cannot be imported: {reason}")
    print(explain_conflicts(_pip("check", check=False).stdout.splitlines()))


def check_environment() -> None:
    """Raise `InstallationError` if AllenNLP cannot be installed into this environment."""
    if sys.version_info[:2] > NEWEST_PYTHON:
        raise InstallationError(
            f"AllenNLP {ALLENNLP_VERSION} and its requirements run on Python 3.9 to "
            f"{_dotted(NEWEST_PYTHON)}, and this is {_dotted(sys.version_info[:2])}; make an "
            "environment of one of those"
        )
    torch = installed_version("torch")
    if torch is None or _release(torch) < OLDEST_TORCH:
        found = "is not installed" if torch is None else f"{torch} is too old"
        raise InstallationError(f"torch {found}; install torch {_dotted(OLDEST_TORCH)} or later")
    pip = installed_version("pip") if importlib.util.find_spec("pip") else None
    if pip is None:
        raise InstallationError(
            f"{sys.executable} has no pip; add it (`python -m ensurepip`, or `uv pip install pip` "
            "in an environment that uv made), or state the overrides of docs/install.md to uv"
        )
    if _release(pip) < OLDEST_PIP:
        raise InstallationError(
            f"pip {pip} is too old; first run `python -m pip install --upgrade pip`"
        )
    _check_folder(Path(sysconfig.get_path("purelib")))
    torchvision = installed_version("torchvision")
    reason = torchvision and _failure_of("import torchvision")
    if reason:
        raise InstallationError(
            f"torchvision {torchvision} does not work beside torch {torch} ({reason}); uninstall "
            "it, since text needs none, or install the torchvision that matches"
        )


def _check_folder(folder: Path) -> None:
    """Raise `InstallationError` if packages cannot be installed into this folder."""
    managed = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").is_file()
    if managed and sys.prefix == sys.base_prefix:
        raise InstallationError(
            "this Python belongs to the operating system, which forbids pip to change it; "
            "make an environment of your own with `python -m venv`"
        )
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InstallationError(
            f"nothing can be written to {folder} ({error.strerror}); make an environment of your "
            "own with `python -m venv`"
        ) from error


def plan(constraints: Optional[Path] = None) -> list[Change]:
    """Return the packages to install or change, as pip resolves them; torch does not change.

    Raise `InstallationError` if pip finds no versions that fit together.
    """
    torch = metadata.version("torch")
    limits = [f"torch=={torch}"]
    if _release(torch) < TORCH_WITH_NUMPY_2:
        limits.append("numpy<2")  # this torch was built for NumPy 1
    with tempfile.TemporaryDirectory() as folder:
        limits_file = Path(folder, "limits.txt")
        report = Path(folder, "report.json")
        limits_file.write_text("\n".join(limits), encoding="utf-8")
        files = ["--constraint", str(limits_file)]
        if constraints is not None:
            files += ["--constraint", str(constraints)]
        _pip("install", "--quiet", "--dry-run", "--report", str(report), *files, *REQUIREMENTS)
        installs = json.loads(report.read_text(encoding="utf-8"))["install"]
    found = [(item["metadata"]["name"], item["metadata"]["version"]) for item in installs]
    wanted = sorted(found, key=lambda named: named[0].lower())
    if installed_version("allennlp") != ALLENNLP_VERSION:
        wanted.append(("allennlp", ALLENNLP_VERSION))
    support = Path(sysconfig.get_path("purelib"), SUPPORT_SOURCE.name)
    if not support.is_file() or support.read_bytes() != SUPPORT_SOURCE.read_bytes():
        wanted.append((SUPPORT, __version__))
    return [Change(name, version, installed_version(name)) for name, version in wanted]


def _apply(changes: Sequence[Change]) -> None:
    """Install packages by pip, and our own module from a wheel that is written here.

    Raise `InstallationError` if pip fails.
    """
    theirs = [change.pin for change in changes if change.name != SUPPORT]
    if theirs:
        _pip("install", "--quiet", "--no-deps", *theirs)
    if len(theirs) < len(changes):
        with tempfile.TemporaryDirectory() as folder:
            wheel = str(build_support_wheel(Path(folder)))
            _pip("install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", wheel)


def build_support_wheel(folder: Path) -> Path:
    """Write the wheel of `allennlp_torch_support`, so that pip installs it and can remove it.

    The wheel is written directly, because building one needs setuptools, which may be missing.
    """
    module = SUPPORT_SOURCE.stem
    information = f"{module}-{__version__}.dist-info"
    contents = {
        SUPPORT_SOURCE.name: SUPPORT_SOURCE.read_text(encoding="utf-8"),
        f"{module}.pth": f"import {module}\n",
        f"{information}/METADATA": (
            f"Metadata-Version: 2.1\nName: {SUPPORT}\nVersion: {__version__}\n"
            "Summary: Lets AllenNLP start on a later torch and without torchvision.\n"
        ),
        f"{information}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: allennlp-sentmatch\nRoot-Is-Purelib: true\n"
            "Tag: py3-none-any\n"
        ),
    }
    record = ""
    for name, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{name},sha256={digest.decode()},{len(text.encode())}\n"
    contents[f"{information}/RECORD"] = record + f"{information}/RECORD,,\n"
    wheel = folder / f"{module}-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return wheel


def explain_conflicts(lines: Sequence[str]) -> str:
    """Return a text that says which lines of `pip check` are expected, and why."""
    expected = [line for line in lines if line.startswith("allennlp ")]
    others = [line for line in lines if line not in expected and line != NO_CONFLICTS]
    text = f"AllenNLP {ALLENNLP_VERSION} is ready: `allennlp --help`."
    if expected:
        text += (
            "\n`pip check` names these limits of AllenNLP's metadata, which are of 2022; "
            "allennlp_sentmatch is\ntested beyond them, and there is nothing to do:\n  "
            + "\n  ".join(expected)
        )
    if others:
        text += "\nIt also names these, which are not about AllenNLP:\n  " + "\n  ".join(others)
    return text


def why_broken(error: Exception) -> str:
    """Return which package prevents the import of AllenNLP, with the `error` and the remedy.

    It is the first of `REQUIREMENTS` that is missing or has another version or, if there is none,
    the package in which the error was raised.
    """
    from packaging.requirements import Requirement

    for requirement in map(Requirement, REQUIREMENTS):
        version = installed_version(requirement.name)
        is_needed = requirement.marker is None or requirement.marker.evaluate()
        if is_needed and (
            version is None or not requirement.specifier.contains(version, prereleases=True)
        ):
            found = "is missing" if version is None else f"{version} is installed"
            return (
                f"{requirement.name} {found}, and AllenNLP works with {requirement.name}"
                f"{requirement.specifier} only; type `{INSTALL_COMMAND}`"
            )
    folder = Path(sysconfig.get_path("purelib"))
    files = [Path(frame.f_code.co_filename) for frame, _ in walk_tb(error.__traceback__)]
    packages = [file.relative_to(folder).parts[0] for file in files if folder in file.parents]
    package = (packages or ["allennlp"])[-1]
    if isinstance(error, ImportError) and error.name is not None:
        package = error.name
    return (
        f"the package {package.partition('.')[0]} keeps AllenNLP from being imported "
        f"({type(error).__name__}: {error}); install it again, by `{INSTALL_COMMAND}` if it is "
        "missing and otherwise by `pip install --force-reinstall`"
    )


def _pip(*arguments: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Run pip; if `check`, raise `InstallationError` when it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if check and result.returncode != 0:
        raise InstallationError(f"pip failed; the reason is above (`pip {' '.join(arguments)}`)")
    return result


def _failure_of(program: str) -> Optional[str]:
    """Run a `program` in its own process; return its last line if it fails, otherwise `None`."""
    command = [sys.executable, "-W", "ignore", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return None
    return (result.stderr.strip().splitlines() or [f"status {result.returncode}"])[-1]


def installed_version(name: str) -> Optional[str]:
    """Return the version of an installed package; `None` if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _release(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version: (2, 13) of "2.13.0+cpu"."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _dotted(version: Sequence[int]) -> str:
    """Return a version as text: "3.9" of (3, 9)."""
    return ".".join(map(str, version))
