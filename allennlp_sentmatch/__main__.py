"""The program `sentmatch`, which is also `python -m allennlp_sentmatch`; it needs no AllenNLP.

It encodes, searches, deduplicates, exports and serves; it installs AllenNLP, and describes the
environment. With AllenNLP, `allennlp` has the same commands in addition to its own.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.commands.deduplicate import Deduplicate
from allennlp_sentmatch.commands.encode import Encode
from allennlp_sentmatch.commands.export import Export
from allennlp_sentmatch.commands.mistakes import sentence_about
from allennlp_sentmatch.commands.search import Search
from allennlp_sentmatch.commands.serve import Serve
from allennlp_sentmatch.commands.sigterm import ending_at_sigterm
from allennlp_sentmatch.environment import (
    WITHOUT_COMPILED_STEPS,
    describe_environment,
    has_compiled_steps,
)
from allennlp_sentmatch.installation import InstallationError, install_allennlp

COMMANDS: tuple[type[Command], ...] = (Encode, Search, Deduplicate, Export, Serve)

INSTALL = "install-allennlp"


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Run the command that `arguments` name."""
    words = sys.argv[1:] if arguments is None else arguments
    options = _parsed(words)
    if options.command is None:
        print(describe_environment())
    elif options.command == INSTALL:
        try:
            install_allennlp(options.constraint, options.dry_run)
        except InstallationError as error:
            sys.exit(f"{INSTALL}: {error}.")
    else:
        _run(options)
        return
    if not has_compiled_steps():
        print(WITHOUT_COMPILED_STEPS)


class _Parser(argparse.ArgumentParser):
    """A parser whose help shows the defaults, as the help of `allennlp` does."""

    def add_argument(self, *names: Any, **settings: Any) -> Any:
        if settings.get("default") not in (None, "", [], argparse.SUPPRESS):
            settings["help"] += " (default = %(default)s)"
        return super().add_argument(*names, **settings)


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line; a mistake in it ends the program with status 2."""
    parser = _Parser(
        prog="sentmatch",
        description="Without a command: print what to paste into a bug report.",
    )
    parsers: Any = parser.add_subparsers(dest="command", metavar="command")
    for command_class in COMMANDS:
        command = command_class()
        command.add_parser(parsers, words).set_defaults(run=command.run)
    install = parsers.add_parser(
        INSTALL,
        help="Install AllenNLP 2.10.1 for the installed version of torch.",
        description="Install AllenNLP 2.10.1 and its requirements, without changing torch.",
    )
    install.add_argument(
        "--constraint", type=Path, metavar="FILE", help="pip constraints file, for exact versions"
    )
    install.add_argument("--dry-run", action="store_true", help="only say what would be installed")
    return parser.parse_args(words)


def _run(options: argparse.Namespace) -> None:
    """Run a command; a usage error ends the program with a sentence."""
    logging.basicConfig(
        format="%(message)s", level=logging.INFO if options.verbose else logging.WARNING
    )
    if "file_friendly_logging" in options:
        from allennlp_sentmatch.files import progress

        progress.on_separate_lines = options.file_friendly_logging
    try:
        with ending_at_sigterm(f"sentmatch {options.command}"):
            options.run(options)
    except KeyboardInterrupt:
        sys.exit(f"sentmatch {options.command}: stopped by Ctrl-C")
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None or options.verbose:
            raise
        sys.exit(f"sentmatch {options.command}: error: {sentence}")


def _sentence(error: Exception) -> Optional[str]:
    """Return a sentence about a usage error, or `None` for other errors."""
    if isinstance(error, ValueError):
        return str(error)
    if "allennlp" in sys.modules:  # loading an archive imports AllenNLP
        from allennlp_sentmatch.commands.program import mistake

        return mistake(error)
    return sentence_about(error)


if __name__ == "__main__":
    main()
