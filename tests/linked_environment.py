"""New virtual environments for tests, with links to packages of the current environment.

So nothing as large as torch is installed again, and packages that a test leaves out are really
missing.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


class LinkedEnvironment:
    """A virtual environment in `folder` in which the named distributions are installed."""

    def __init__(self, folder: Path, distributions: Iterable[str]) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        links = folder / "linked"
        links.mkdir()
        for name in distributions:
            distribution = metadata.distribution(name)
            for entry in {file.parts[0] for file in distribution.files or ()}:
                target = Path(distribution.locate_file(entry)).resolve()
                if entry not in ("..", "__pycache__") and not (links / entry).exists():
                    (links / entry).symlink_to(target)
        (site_packages,) = folder.glob("lib/python3.*/site-packages")
        (site_packages / "linked.pth").write_text(f"{links}\n")
        self.site_packages = site_packages

    def run(
        self, *command: object, program: str = "python", **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program of the environment in its folder; stdout and stderr come together."""
        environment = {**os.environ, **variables}
        environment.pop("PYTHONPATH", None)
        return subprocess.run(
            [str(self.folder / "bin" / program), *map(str, command)],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


def with_requirements(name: str) -> set[str]:
    """The names of a distribution and its installed requirements."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        try:
            requirements = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        if name not in found:
            found.add(name)
            required = (re.match(r"[\w.-]+", r) for r in requirements if "extra ==" not in r)
            waiting += [match.group() for match in required if match]
    return found
