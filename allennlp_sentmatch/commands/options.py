"""Options that several subcommands have."""

import argparse
from typing import Union

from allennlp_sentmatch.commands.program import VERBOSE


def add_address_options(parser: argparse.ArgumentParser, port: int) -> None:
    """Add the address to serve at, with the default `port`, and the names that are answered."""
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to serve at; 0.0.0.0 lets other machines in",
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer requests for this host name too, such as a proxy's name, and not only "
        "for the address itself; may be repeated",
    )
    parser.add_argument("--port", type=int, default=port, help="the port to serve at")


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """Add the device that a model is loaded to."""
    parser.add_argument("--cuda-device", type=int, default=-1, help="the GPU; -1 is the CPU")


def add_overrides_option(parser: argparse.ArgumentParser) -> None:
    """Add what AllenNLP's own subcommands call `--overrides`."""
    parser.add_argument(
        "-o",
        "--overrides",
        default="",
        help="JSON that replaces settings of the archive, such as "
        "'{\"model.cut_projection\": true}'",
    )


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `read_sentences`, for a file of sentences that may be a table."""
    parser.add_argument(
        "--column",
        type=_column,
        help="of a tsv, csv or JSON lines file, the sentences' column: its name, or its position "
        "counted from 0 where there is no header",
    )
    parser.add_argument(
        "--delimiter",
        help="what separates the columns (default: tabs if the first line has one, else commas)",
    )


def _column(name: str) -> Union[int, str]:
    """A column as a command line names it: by its position if that is a number."""
    return int(name) if name.isdigit() else name


def add_trust_option(parser: argparse.ArgumentParser) -> None:
    """Add `load_archive`'s argument `trust`."""
    parser.add_argument(
        "--trust-archive",
        action="store_true",
        help="let the archive's configuration name any importable class, read local files and open "
        "other archives, which can run any code; see SECURITY.md",
    )


def add_verbose_option(parser: argparse.ArgumentParser) -> None:
    """Add `--verbose`, which `program.set_up` looks for."""
    parser.add_argument(
        VERBOSE, action="store_true", help="print the log, and the traceback of an error"
    )


def add_progress_option(parser: argparse.ArgumentParser) -> None:
    """Add what AllenNLP's own subcommands call `--file-friendly-logging`."""
    parser.add_argument(
        "--file-friendly-logging",
        action="store_true",
        help="print progress on separate lines, at most every ten seconds",
    )
