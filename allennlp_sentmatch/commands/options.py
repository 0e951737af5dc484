"""Options that several subcommands have."""

import argparse

from allennlp_sentmatch.commands.program import VERBOSE


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
