"""The `compare` subcommand tells whether one set of trained models is better than another.

A set has an archive for each seed. On labeled data, it prints the difference, its 95 % interval
over items and seeds, p, and the smallest difference that so many items and seeds could have found.
For example: `allennlp compare out/a_* --with out/b_* test.tsv`.
"""

import argparse
from pathlib import Path
from typing import Any

from allennlp_sentmatch.commands.command import Command, json_or_text
from allennlp_sentmatch.files.folders import check_absent, write_json


class Compare(Command):
    """Compare sets of trained models on labeled data."""

    name = "compare"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_files", nargs="+", help="archived models, one for each seed")
        parser.add_argument(
            "--with",
            dest="others",
            action="append",
            nargs="+",
            required=True,
            metavar="ARCHIVE",
            help="archives to compare them with; repeat it for each set. The labeled data follow "
            "the last set: a file that the validation readers read, or a part of it, as JSON",
        )
        parser.add_argument(
            "--metric",
            choices=["accuracy", "map", "pearson", "f1", "rouge_l"],
            help="models of reading comprehension have f1 (the default) and rouge_l; others have "
            "one metric, which need not be named",
        )
        parser.add_argument("--output-file", help="a new file for the report, as JSON")

    def run(self, args: argparse.Namespace) -> None:
        *others, last_and_data = args.others
        *last, data_text = last_and_data
        if not last:
            raise ValueError(
                "the last --with needs archives, and after them the labeled data, "
                f"as in --with out/b_* test.tsv; got only {data_text}"
            )
        if args.output_file is not None:
            check_absent(Path(args.output_file), "file")
        data_path = json_or_text(data_text, where="the data path")
        from allennlp_sentmatch.comparison import compare_archives

        reports = compare_archives(
            args.archive_files,
            [*others, last],
            data_path,
            args.metric,
            args.cuda_device,
            args.trust_archive,
        )
        for report in reports:
            print(*lines_of(report, len(reports)), "", sep="\n")
        if args.output_file is not None:
            write_json(Path(args.output_file), reports)


def lines_of(report: dict[str, Any], comparisons: int) -> list[str]:
    """Return the lines that describe one of some `comparisons`, with figures in percent."""
    first = _named(report["higher"])
    second = _named(report["lower"])
    means = f"{_percent(report['higher_mean'])} against {_percent(report['lower_mean'])} %"
    interval = f"95 % interval {_signed(report['low'])} to {_signed(report['high'])}"
    p = f"p {report['p']:.2g} ({report['test']})"
    if comparisons > 1:
        p += f", {report['p_holm']:.2g} by Holm's method for {comparisons} comparisons"
    smallest = _percent(report["smallest"])
    return [
        f"{first} against {second}: {report['metric']}, {report['items']} items",
        f"  {means}: {_signed(report['difference'])}, {interval}, {p}",
        f"  found in 4 of 5 cases: a difference of {smallest}; {_needed(report)}",
    ]


def _percent(figure: float) -> str:
    return f"{100 * figure:.1f}"


def _signed(difference: float) -> str:
    return f"{100 * difference:+.1f}"


def _needed(report: dict[str, Any]) -> str:
    """Return a sentence about what would detect the difference, if it is as large as it seems."""
    if len(report["higher"]) == 1 or len(report["lower"]) == 1:
        return "how much other seeds differ is not known from one archive"
    if report["seeds_to_decide"] is None:
        return "this one would need more items, whatever the number of seeds"
    return f"this one would need {report['seeds_to_decide']} seeds of each"


def _named(paths: list[str]) -> str:
    """Return the name of a set of archives: its first one's path, and how many others it has."""
    num_others = len(paths) - 1
    if num_others == 0:
        return paths[0]
    noun = "other" if num_others == 1 else "others"
    return f"{paths[0]} and {num_others} {noun}"
