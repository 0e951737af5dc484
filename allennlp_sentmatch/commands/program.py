"""The output of the `allennlp` program with this package.

AllenNLP's program logs every step and reports mistakes by tracebacks. With this package, as a
plugin or by `--include-package`,

- the package's own subcommands print results, progress and warnings; the log comes with
  `--verbose`;
- a mistake in data or configuration ends any subcommand, AllenNLP's `train`, `evaluate` and
  `predict` included, in one sentence and the exit status 1. The traceback comes with `--verbose` or
  the environment variable `ALLENNLP_DEBUG`; of training, it is always in `out.log`.

AllenNLP has parsed its own subcommands' arguments before it loads a plugin, so that their functions
cannot be replaced then. What is set is `sys.excepthook`, and only in a process that was started as
`allennlp`: a program that imports the package keeps its own.
"""

import logging
import os
import sys
from collections.abc import Collection
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any, Callable, Optional

from allennlp.common import logging as common_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import construct_arg

ExceptHook = Callable[[type[BaseException], BaseException, Optional[TracebackType]], Any]

VERBOSE = "--verbose"

JSONNET_ERRORS = ("STATIC ERROR: ", "RUNTIME ERROR: ")
"""How the messages of jsonnet's `RuntimeError` begin."""


def is_running() -> bool:
    """Whether this process is the `allennlp` program, or `python -m allennlp`."""
    path = Path(sys.argv[0])
    return path.stem == "allennlp" or path.parts[-2:] == ("allennlp", "__main__.py")


def set_up(own_subcommands: Collection[str]) -> None:
    """Change the output as this module's docstring describes.

    # Parameters

    own_subcommands : `Collection[str]`
        The names of this package's subcommands.
    """
    # Before the arguments are parsed: AllenNLP logs that the plugin is available.
    is_own = len(sys.argv) > 1 and sys.argv[1] in own_subcommands
    if is_own and not (VERBOSE in sys.argv or _level_is_chosen()):
        logging.getLogger().setLevel(logging.WARNING)
    _report_mistakes()


def mistake(error: BaseException) -> Optional[str]:
    """A sentence about a mistake in data or configuration; `None` for any other error."""
    if isinstance(error, ConfigurationError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, FileNotFoundError):  # of a path or URL that AllenNLP looked for
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        package = error.name.partition(".")[0]
        return f"the package {package} is not installed; install it with: pip install {package}"
    if isinstance(error, RuntimeError) and str(error).startswith(JSONNET_ERRORS):
        kind, _, message = str(error).splitlines()[0].partition(": ")
        return f"{message} (jsonnet: {kind.lower()})"
    if isinstance(error, TypeError):
        return _wrong_argument(error)
    return None


def _wrong_argument(error: TypeError) -> Optional[str]:
    """A sentence about an argument of a predictor's or a setting in a configuration."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    code = frames[-1].f_code if frames else None
    if (
        code is not None and code.co_name == "from_archive"
    ):  # calls the predictor with its arguments
        return f"{error} (see --predictor-args)"
    if code is construct_arg.__code__:  # checks the type of a setting
        setting = frames[-1].f_locals
        return (
            f"{setting['argument_name']} of {setting['class_name']} is "
            f"{setting['popped_params']!r}: {error}"
        )
    return None


def _level_is_chosen() -> bool:
    return bool(os.environ.get("ALLENNLP_DEBUG") or os.environ.get("ALLENNLP_LOG_LEVEL"))


def _report_mistakes() -> None:
    """Let `sys.excepthook` print mistakes as sentences, also after `allennlp train` replaces it."""
    prepare_global_logging = common_logging.prepare_global_logging

    def prepare(*args: Any, **kwargs: Any) -> None:
        prepare_global_logging(*args, **kwargs)
        sys.excepthook = _hook(sys.excepthook)

    common_logging.prepare_global_logging = prepare
    sys.excepthook = _hook(sys.excepthook)


def _hook(previous: ExceptHook) -> ExceptHook:
    """A hook that prints mistakes as sentences and leaves other errors to the `previous` one."""

    def hook(
        kind: type[BaseException], error: BaseException, traceback: Optional[TracebackType]
    ) -> None:
        sentence = mistake(error)
        if sentence is None or VERBOSE in sys.argv or os.environ.get("ALLENNLP_DEBUG"):
            previous(kind, error, traceback)
            return
        _log_to_files(kind, error, traceback)
        print(f"{' '.join(['allennlp', *sys.argv[1:2]])}: error: {sentence}", file=sys.stderr)

    return hook


def _log_to_files(
    kind: type[BaseException], error: BaseException, traceback: Optional[TracebackType]
) -> None:
    """Write the traceback to the log files that `allennlp train` has opened."""
    root = logging.getLogger()
    record = root.makeRecord(
        root.name,
        logging.CRITICAL,
        __file__,
        0,
        "Uncaught exception",
        (),
        (kind, error, traceback),
    )
    for handler in root.handlers:
        if isinstance(handler, logging.FileHandler):
            handler.handle(record)
