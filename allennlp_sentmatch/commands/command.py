"""The form and the options that this package's commands share.

The modules of the commands import what they need when they run: listing them takes no time.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, ClassVar, Union

from allennlp_sentmatch.files.json_lines import parse_json_object

VERBOSE = "--verbose"

_OPTIONS: dict[str, dict[str, Any]] = {
    "--cuda-device": {"type": int, "default": -1, "help": "the GPU; -1 is the CPU"},
    "--overrides": {
        "default": "",
        "help": "JSON that replaces settings of the archive, such as "
        "'{\"model.cut_projection\": true}'",
    },
    "--dtype": {
        "choices": ["float32", "bfloat16", "int8"],
        "help": "the format of the numbers in matrix products, the same for `encode` and `search` "
        "(default: float32). Some processors multiply bfloat16 faster; int8 is for the encoder in "
        "this package",
    },
    "--trust-archive": {
        "action": "store_true",
        "help": "let the archive's configuration name any importable class, read local files and "
        "open other archives, which can run any code; see SECURITY.md",
    },
    "--file-friendly-logging": {
        "action": "store_true",
        "help": "print progress on separate lines, at most every ten seconds",
    },
    VERBOSE: {"action": "store_true", "help": "print the log, and the traceback of an error"},
}


CLASSIFIERS_VECTORS = (
    "%s is a classifier, whose vectors serve to tell labels apart: sentences that mean different "
    "things may have a cosine near 1. For similarity, train a similarity_regressor with the scorer "
    "cosine, or a distilled_encoder"
)
"""The warning when a classifier's vectors are written: they are easily mistaken for
similarities.
"""


class Command:
    """A command that its module's docstring describes.

    The class's docstring is its line in the list of commands.
    """

    name: ClassVar[str]
    """The command's name on the command line."""

    shared_options: ClassVar[Sequence[str]] = ()
    """The names of the options that it shares with other commands."""

    def add_parser(
        self,
        parsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
        command_line: Sequence[str],
    ) -> argparse.ArgumentParser:
        """Add a parser of the command, and return it.

        It has the command's arguments only if the `command_line` begins with the command: to
        describe the arguments of the others, the rooms behind them would be imported.
        """
        if list(command_line[:1]) != [self.name]:
            return parsers.add_parser(self.name, help=self.__doc__)
        description = sys.modules[self.__module__].__doc__
        parser = parsers.add_parser(self.name, description=description, help=self.__doc__)
        self.add_arguments(parser)
        for name in (*self.shared_options, VERBOSE):
            flags = ("-o", name) if name == "--overrides" else (name,)
            parser.add_argument(*flags, **_OPTIONS[name])
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments that only this command has."""
        raise NotImplementedError

    def run(self, args: argparse.Namespace) -> None:
        """Run the command; a `ValueError` is reported as a usage error."""
        raise NotImplementedError


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `read_sentences`, for a file of sentences that may be a table."""
    parser.add_argument(
        "--column",
        type=_column,
        help="the column of the sentences in a tsv, csv or JSON lines file: its name, or its "
        "position, counted from 0, if there is no header",
    )
    parser.add_argument(
        "--delimiter",
        help="the character between the columns (default: a tab if the first line has one, "
        "otherwise a comma)",
    )


MODEL = (
    "`package`, the encoder in this package; the folder of an exported encoder or of a model of "
    "sentence-transformers; or an archive, which needs AllenNLP"
)
"""The help of a command about a model that only encodes."""


def json_or_text(text: str, where: str) -> Any:
    """Return the JSON object in an argument, or the argument itself if it does not begin as one.

    Raise `ValueError`, which begins with `where`, for a malformed object.
    """
    is_json = text.lstrip().startswith("{")
    return parse_json_object(text, where, "an object") if is_json else text


def _column(name: str) -> Union[int, str]:
    """Return a column's name, or its position if the argument is a number."""
    return int(name) if name.isdigit() else name
