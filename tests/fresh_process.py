"""Python processes that have not imported AllenNLP or this package yet.

Most of AllenNLP's import time goes into its libraries. A server imports them once, and the
processes are its forks.
"""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Optional

REPOSITORY = Path(__file__).resolve().parents[1]

_forkserver = multiprocessing.get_context("forkserver")
# Their warnings, such as Google's about an old Python, are the server's.
_forkserver.set_forkserver_preload(
    ["torch", "transformers", "spacy", "nltk", "sklearn.metrics", "cached_path"]
)

RUN_ALLENNLP = "from allennlp.__main__ import run\nrun()\n"
"""The code of the program `allennlp`."""


def run_python(
    code: str,
    *arguments: object,
    program: str = "-c",
    cwd: Path = REPOSITORY,
    environment: Optional[Mapping[str, str]] = None,
) -> "CompletedProcess[str]":
    """Run Python code as a separate program, by default in the tests' environment.

    `program` and `arguments` are its `sys.argv`.
    """
    argv = [program, *map(str, arguments)]
    environment = dict(os.environ if environment is None else environment)
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{name}" for name in ("stdout", "stderr")]
        process = _forkserver.Process(
            target=_run, args=(code, argv, str(cwd), environment, _installed(), *files)
        )
        process.start()
        process.join()
        printed = [Path(file).read_text(encoding="utf-8", errors="replace") for file in files]
    assert process.exitcode is not None
    return CompletedProcess(argv, process.exitcode, *printed)


def run_allennlp(
    *arguments: object, cwd: Path = REPOSITORY, environment: Optional[Mapping[str, str]] = None
) -> "CompletedProcess[str]":
    """Run the program `allennlp`."""
    program = str(Path(sys.executable).with_name("allennlp"))
    return run_python(
        RUN_ALLENNLP,
        *arguments,
        program=program,
        cwd=cwd,
        environment=environment,
    )


def _installed() -> list[str]:
    """The folders in which Python finds modules, without those that only these tests add."""
    added = {str(REPOSITORY), "", *os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    return [path for path in sys.path if path not in added]


def _run(
    code: str,
    argv: list[str],
    cwd: str,
    environment: dict[str, str],
    installed: list[str],
    stdout: str,
    stderr: str,
) -> None:
    imported = {name.partition(".")[0] for name in sys.modules}
    assert not imported & {"allennlp", "allennlp_sentmatch"}
    for number, file in ((1, stdout), (2, stderr)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    added = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [*([""] if argv[0] == "-c" else []), *added, *installed]
    sys.argv = argv
    try:
        exec(compile(code, argv[0], "exec"), {"__name__": "__main__"})
    except Exception:
        sys.excepthook(*sys.exc_info())  # a program may have replaced it
        sys.exit(1)
