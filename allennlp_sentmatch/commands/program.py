"""The output of the `allennlp` program with this package.

AllenNLP's program logs every step and reports mistakes by tracebacks. With this package, as a
plugin or by `--include-package`,

- the package's own subcommands print results, progress and warnings; the log comes with
  `--verbose`;
- a mistake in data or configuration, Ctrl-C or SIGTERM ends any subcommand, AllenNLP's `train`,
  `evaluate` and `predict` included, in one sentence. The traceback comes with `--verbose` or the
  environment variable `ALLENNLP_DEBUG`; of training, it is always in `out.log`. The exit status of
  a mistake is 1.

AllenNLP parses its own subcommands' arguments before it loads a plugin, so that their functions
cannot be replaced then. Instead, `sys.excepthook` is set, but only in a process that was started as
`allennlp`: a program that imports the package keeps its own.
"""

import logging
import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from inspect import unwrap
from pathlib import Path
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any, Callable, Optional

from allennlp.commands import ArgumentParserWithDefaults
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Params, Registrable
from allennlp.common import logging as common_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import construct_arg
from allennlp.common.util import SigTermReceived, int_to_device
from allennlp.data.data_loaders.multiprocess_data_loader import WorkerError
from allennlp.models.archival import CONFIG_NAME
from allennlp.training.metric_tracker import MetricTracker
from allennlp.training.util import create_serialization_dir
from torch.multiprocessing.spawn import ProcessRaisedException

from allennlp_sentmatch.commands.command import VERBOSE
from allennlp_sentmatch.commands.jsonnet_functions import unknown_parameter
from allennlp_sentmatch.commands.mistakes import sentence_about
from allennlp_sentmatch.errors import UnknownSettingError
from allennlp_sentmatch.files.messages import did_you_mean

Frames = Sequence[FrameType]
"""The functions of a traceback; the last one raised the error."""

ExceptHook = Callable[[type[BaseException], BaseException, Optional[TracebackType]], Any]

HUB_ERROR = re.compile(
    "We couldn't connect to|Connection error, and we|Can't load|Incorrect path_or_model_id|"
    ".+ is not a local folder and "
)
"""The beginning of transformers' message about a name or a folder that it does not find."""

MISTAKE_OF_A_PROCESS = re.compile(
    r"^ *[\w.]*(?:ConfigurationError|FileNotFoundError): (.+)", re.MULTILINE
)
"""The end of a traceback of another process, with the message of its error."""

JSONNET_ERRORS = ("STATIC ERROR: ", "RUNTIME ERROR: ")  # jsonnet's messages begin with these

KNOWN_ERRORS = {
    "nan loss encountered": "the training loss is not a number (NaN): lower the learning rate "
    "(trainer.optimizer.lr), or limit gradients with trainer.grad_norm",
    "Using AMP requires a cuda device": "trainer.use_amp needs a GPU: remove it, or use the "
    'trainer of "type": "bfloat16", which trains on CPUs, too',
    "batch_sampler option is mutually exclusive with": "data_loader has a batch_sampler, which "
    "makes the batches: set data_loader.batch_sampler.batch_size, and leave batch_size, drop_last "
    "and shuffle of data_loader out",
    "Calculated padded input size per channel": "a text has fewer words, or a word fewer "
    "characters, than a filter of the encoder cnn: set the largest of its ngram_filter_sizes as "
    "token_min_padding_length of the reader's indexer, or as min_padding_length of its indexer of "
    "characters; of an archive, with --overrides",
}
"""Sentences that replace messages of AllenNLP and torch, by how these begin."""

WRONG_ENCODERS = {
    "Seq2VecEncoder": '; wrap it in {"type": "pooled", "encoder": ...}',
    "Seq2SeqEncoder": '; leave out "pooled" if it is there',
}
"""Remedies for an encoder of the other kind, by the kind that is needed."""


def is_running() -> bool:
    """Return whether this process is the `allennlp` program, or `python -m allennlp`.

    A program that imports AllenNLP keeps its own output.
    """
    path = Path(sys.argv[0])
    return path.stem == "allennlp" or path.parts[-2:] == ("allennlp", "__main__.py")


def set_up(own_subcommands: Collection[str]) -> None:
    """Change the output as this module's docstring describes; the names are this package's."""
    # Before the arguments are parsed: AllenNLP logs that the plugin is available.
    is_own = len(sys.argv) > 1 and sys.argv[1] in own_subcommands
    chosen = ("ALLENNLP_DEBUG", "ALLENNLP_LOG_LEVEL")
    if is_own and VERBOSE not in sys.argv and not any(map(os.environ.get, chosen)):
        logging.getLogger().setLevel(logging.WARNING)
    prepare_global_logging = common_logging.prepare_global_logging

    def prepare(*args: Any, **kwargs: Any) -> None:  # `allennlp train` replaces the hook by it
        prepare_global_logging(*args, **kwargs)
        sys.excepthook = _hook(sys.excepthook)

    common_logging.prepare_global_logging = prepare
    parser: Any = ArgumentParserWithDefaults
    parser.error = _error
    sys.excepthook = _hook(sys.excepthook)


def mistake(error: BaseException) -> Optional[str]:
    """Return a sentence about a mistake in data or configuration, or a signal; `None` for other
    errors.
    """
    if isinstance(error, (KeyboardInterrupt, SigTermReceived)):
        name = "Ctrl-C" if isinstance(error, KeyboardInterrupt) else "SIGTERM"
        return ": ".join([f"stopped by {name}", *map(str, error.args)])
    if isinstance(error, (WorkerError, ProcessRaisedException)):
        messages: list[str] = MISTAKE_OF_A_PROCESS.findall(str(error))
        return messages[-1] if messages else None
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    for describe in (_of_configuration, _of_a_place, _of_the_system):
        sentence = describe(error, frames)
        if sentence is not None:
            return sentence
    if not isinstance(error, (RuntimeError, ValueError)):
        return None
    for beginning, sentence in KNOWN_ERRORS.items():
        if str(error).startswith(beginning):
            return sentence
    return None


def _of_configuration(error: BaseException, frames: Frames) -> Optional[str]:
    """Return a sentence about a `ConfigurationError`, an unknown setting or Jsonnet."""
    if isinstance(error, ConfigurationError):
        code = frames[-1].f_code if frames else None
        values = frames[-1].f_locals if frames else {}
        if code is Params.pop_choice.__code__:
            place = f"{values['key_str']}: "
            return _of_a_component(str(values["value"]), values["choices"], place) or str(error)
        if code is not None and code.co_name == "resolve_class_name":  # raised by `Registrable`
            choices = values["cls"].list_available()
            return _of_a_component(values["name"], choices) or str(error)
        if code is MetricTracker.combined_score.__code__:
            names = ", ".join(values["metrics"])
            return f"{error} Set trainer.validation_metric to + or - one of {names}."
        if code is unwrap(create_serialization_dir).__code__:
            return _existing_folder(str(error), values)
        return str(error)
    if isinstance(error, UnknownSettingError):  # a subclass in another package
        return str(error)
    if isinstance(error, RuntimeError) and str(error).startswith(JSONNET_ERRORS):
        kind, _, message = str(error).splitlines()[0].partition(": ")
        sources = _jsonnet_sources(frames)
        return unknown_parameter(message, sources) or f"{message} (jsonnet: {kind.lower()})"
    return None


def _of_a_component(name: str, choices: list[str], place: str = "") -> Optional[str]:
    """Return a sentence about a name that is not among the choices; `None` without a remedy."""
    hint = did_you_mean(name, choices)
    names_by_kind = {kind.__name__: set(names) for kind, names in Registrable._registry.items()}
    wanted = [kind for kind, names in names_by_kind.items() if names == set(choices)]
    if not wanted:  # the choices of another package's setting
        return f"{place}there is no {name!r}{hint}" if hint else None
    kind = wanted[0]
    others = [other for other, names in names_by_kind.items() if name in names]
    if others:
        are_encoders = WRONG_ENCODERS.keys() <= {kind, *others}
        remedy = WRONG_ENCODERS[kind] if are_encoders else ""
        return f"{place}{name!r} is registered as {' and '.join(others)}, not as {kind}{remedy}"
    return f"{place}there is no {kind} {name!r}{hint}" if hint else None


def _of_a_place(error: BaseException, frames: Frames) -> Optional[str]:
    """Return a sentence about an error that a function of AllenNLP is known to raise.

    The values in its frame say which setting was wrong, which the message does not.
    """
    if not frames:
        return None
    code = frames[-1].f_code
    values = frames[-1].f_locals
    if code is int_to_device.__code__:
        return (
            f"cuda_device is {values['device']}, but torch finds no GPU here: set it to -1, or "
            "leave it out"
        )
    if not isinstance(error, TypeError):
        return None
    if code.co_name == "from_archive":  # it calls the predictor with its arguments
        return f"{error} (see --predictor-args)"
    if code is construct_arg.__code__:  # it checks the type of a setting
        name = values["argument_name"]
        owner = values["class_name"]
        return f"{name} of {owner} is {values['popped_params']!r}: {error}"
    return None


def _of_the_system(error: BaseException, frames: Frames) -> Optional[str]:
    """Return a sentence about a file, a device, a connection or a package."""
    if isinstance(error, (OSError, ValueError)) and HUB_ERROR.match(str(error)):
        reason = str(error).splitlines()[0].rstrip(".")
        return (
            f"{reason}. Download the transformer where there is a connection, and give the folder "
            "instead of its name (the argument `transformer`, or model_name)"
        )
    return sentence_about(error)


def _jsonnet_sources(frames: Frames) -> list[tuple[str, Path]]:
    """Return the Jsonnet of AllenNLP's functions, overrides and files, with the folder of each."""
    sources = []
    for frame in frames:
        overrides = frame.f_locals.get("serialized_overrides")
        if isinstance(overrides, str):
            sources.append((overrides, Path()))
        if frame.f_code is Params.from_file.__func__.__code__:  # type: ignore[attr-defined]
            file = Path(frame.f_locals["params_file"])
            sources.append((file.read_text("utf-8"), file.parent))
    return sources


def _existing_folder(message: str, values: Mapping[str, Any]) -> str:
    """Return a sentence about a training's folder; the training may have ended before it began."""
    folder = Path(values["serialization_dir"])
    if values["force"]:
        return message
    if not (folder / CONFIG_NAME).exists():
        return (
            f"{folder} is not empty, and holds no training: name another folder (--force would "
            "delete everything in it)"
        )
    if not any(folder.glob("*.th")):  # weights and training states
        return (
            f"{folder}: there is nothing to recover, since no training has saved anything there; "
            "specify --force to delete the folder and begin again"
        )
    return f"{message} Or specify --force to delete it and begin again."


_parsers_error: Any = ArgumentParserWithDefaults.error


def _error(parser: ArgumentParserWithDefaults, message: str) -> None:
    """Exit with a message; for an unknown subcommand, suggest the most similar one."""
    unknown = re.match(r"argument .*: invalid choice: '([^']+)' ", message)
    if unknown is not None and parser.prog == "allennlp":
        hint = did_you_mean(unknown[1], Subcommand.list_available())
        if hint:
            message = f"there is no command {unknown[1]!r}{hint}"
    _parsers_error(parser, message)


def _hook(previous: ExceptHook) -> ExceptHook:
    """Return a hook that prints mistakes as sentences, and leaves other errors to `previous`."""

    def hook(
        kind: type[BaseException],
        error: BaseException,
        traceback: Optional[TracebackType],
    ) -> None:
        sentence = mistake(error)
        if sentence is None or VERBOSE in sys.argv or os.environ.get("ALLENNLP_DEBUG"):
            previous(kind, error, traceback)
            return
        # `allennlp train` has opened log files.
        files = logging.Logger("root")
        handlers = logging.getLogger().handlers
        files.handlers = [one for one in handlers if isinstance(one, logging.FileHandler)]
        if files.handlers:
            files.critical("Uncaught exception", exc_info=(kind, error, traceback))
        is_mistake = issubclass(kind, Exception) and kind is not SigTermReceived
        kind_of_end = "error: " if is_mistake else ""
        print(f"{' '.join(['allennlp', *sys.argv[1:2]])}: {kind_of_end}{sentence}", file=sys.stderr)

    return hook
