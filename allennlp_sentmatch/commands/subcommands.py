"""This package's commands as subcommands of `allennlp`."""

import argparse
import logging
import sys
from typing import Any, Callable, Optional

from allennlp.commands.subcommand import Subcommand
from allennlp.common import logging as common_logging

from allennlp_sentmatch.commands import program
from allennlp_sentmatch.commands.calibrate import Calibrate
from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.commands.compare import Compare
from allennlp_sentmatch.commands.deduplicate import Deduplicate
from allennlp_sentmatch.commands.demo import Demo
from allennlp_sentmatch.commands.encode import Encode
from allennlp_sentmatch.commands.ensemble import EnsembleArchives
from allennlp_sentmatch.commands.evaluate_generator import EvaluateGenerator
from allennlp_sentmatch.commands.export import Export
from allennlp_sentmatch.commands.inspect import Inspect
from allennlp_sentmatch.commands.learn_bpe import LearnBpe
from allennlp_sentmatch.commands.search import Search
from allennlp_sentmatch.commands.serve import Serve
from allennlp_sentmatch.commands.sigterm import ending_at_sigterm
from allennlp_sentmatch.commands.transfer import Transfer
from allennlp_sentmatch.commands.tune import Tune
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files import progress

logger = logging.getLogger(__name__)

COMMANDS: tuple[type[Command], ...] = (
    Calibrate,
    Compare,
    Deduplicate,
    Demo,
    Encode,
    EnsembleArchives,
    EvaluateGenerator,
    Export,
    Inspect,
    LearnBpe,
    Search,
    Serve,
    Transfer,
    Tune,
)

_OWN = f"{__name__.rpartition('.')[0]}."
_register: Any = Subcommand.register


def subcommand_of(command: Command) -> type[Subcommand]:
    """Return a subcommand of `allennlp` that runs a command.

    The command's `ValueError`s become `ConfigurationError`s, AllenNLP's class for users' mistakes.
    """

    class CommandOfThisPackage(Subcommand):
        def add_subparser(
            self, parser: "argparse._SubParsersAction[argparse.ArgumentParser]"
        ) -> argparse.ArgumentParser:
            command_line = sys.argv[1:] if program.is_running() else [command.name]
            subparser = command.add_parser(parser, command_line)
            subparser.set_defaults(func=self.run)
            return subparser

        def run(self, args: argparse.Namespace) -> None:
            if "file_friendly_logging" in args:
                common_logging.FILE_FRIENDLY_LOGGING = args.file_friendly_logging
                progress.on_separate_lines = args.file_friendly_logging
            with ending_at_sigterm(f"allennlp {command.name}"), configuration_errors():
                command.run(args)

    CommandOfThisPackage.__module__ = type(command).__module__
    CommandOfThisPackage.__doc__ = type(command).__doc__
    return CommandOfThisPackage


def _register_among_others(
    cls: type[Subcommand],
    name: str,
    constructor: Optional[str] = None,
    exist_ok: bool = False,
) -> Callable[[type[Subcommand]], type[Subcommand]]:
    """Keep this package's command if another plugin has one of the same name.

    allennlp-server has "serve", and allennlp-optuna "tune". AllenNLP would refuse to load the later
    one, with an error for every command.
    """

    def add(command: type[Subcommand]) -> type[Subcommand]:
        is_taken = name in Subcommand.list_available()
        if not is_taken or _is_own(Subcommand.by_name(name)) == _is_own(command):
            return _register(name, constructor, exist_ok)(command)  # type: ignore[no-any-return]
        taken = Subcommand.by_name(name)
        other = command if _is_own(taken) else taken
        logger.warning(
            "`allennlp %s` is the command of allennlp_sentmatch; the command of %s is left out",
            name,
            other.__module__,
        )
        return command if other is command else _register(name, constructor, True)(command)

    return add


def _is_own(command: Callable[..., Subcommand]) -> bool:
    return command.__module__.startswith(_OWN)


Subcommand.register = classmethod(_register_among_others)  # type: ignore[assignment]

for command_class in COMMANDS:
    Subcommand.register(command_class.name)(subcommand_of(command_class()))

if program.is_running():
    program.set_up([command_class.name for command_class in COMMANDS])
