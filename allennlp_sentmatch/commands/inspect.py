"""The `inspect` subcommand draws the internals of a model for its predictions.

Depending on the model, it writes to a new folder the trees, the attention and the words' saliency
of each input, and the histograms of a CAS-LSTM's vertical forget gates over all inputs. Trees are
also printed, as nested parentheses. With --trees, it measures the trees against parses instead. For
example: `allennlp inspect model.tar.gz pairs.jsonl pictures`.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.files.folders import check_absent, write_json, written_folder
from allennlp_sentmatch.files.json_lines import json_rows


class Inspect(Command):
    """Draw what a model did with its inputs."""

    name = "inspect"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        from allennlp_sentmatch.inspection import KINDS, SALIENCY_METHODS

        parser.add_argument("archive_file", help="path to an archived model")
        parser.add_argument(
            "input_file",
            help="JSON lines as `allennlp predict` takes them, one input per line; with --trees, "
            "trees of the Stanford Sentiment Treebank, or JSON lines with SNLI's binary parses",
        )
        parser.add_argument("output_dir", help="a folder that does not exist yet")
        parser.add_argument("--what", nargs="+", choices=KINDS, default=KINDS, help="what to draw")
        parser.add_argument(
            "--beside",
            metavar="ARCHIVE",
            action="append",
            default=[],
            help="another model, whose trees are also drawn or measured; may be repeated",
        )
        parser.add_argument(
            "--trees",
            action="store_true",
            help="draw nothing, and write to trees.json how alike the models' trees are to the "
            "parses of the input file, to simple trees and to each other",
        )
        parser.add_argument(
            "--saliency-method",
            choices=SALIENCY_METHODS,
            default="simple",
            help="the gradients that give the saliency",
        )
        parser.add_argument(
            "--sample",
            type=int,
            metavar="N",
            help="take N inputs, the same ones each time, instead of all of them",
        )

    def run(self, args: argparse.Namespace) -> None:
        """Draw the predictions, or measure the trees, and print the trees or their table.

        Raise `ValueError` if the output folder exists, and for a malformed input, with its line.
        """
        from allennlp.predictors import Predictor

        from allennlp_sentmatch.inspection import draw_into_folder, measure_trees, read_parses
        from allennlp_sentmatch.models.archival import load_archive

        folder = Path(args.output_dir)
        check_absent(folder, "folder")
        read = read_parses if args.trees else _read_inputs
        inputs = _sampled(read(args.input_file), args)
        predictors = {}
        for path in (args.archive_file, *args.beside):
            archive = load_archive(path, args.cuda_device, args.trust_archive)
            predictors[path] = Predictor.from_archive(archive)
        if args.trees:
            report = measure_trees(predictors, inputs)
            with written_folder(folder) as temporary:
                write_json(temporary / "trees.json", report)
            print(*_lines_of(report), sep="\n")
            return
        for tree in draw_into_folder(
            folder, predictors, inputs, args.what, args.saliency_method, args.input_file
        ):
            print(*tree, sep="\t")


def _read_inputs(path: str) -> list[dict[str, Any]]:
    """Read the objects that a predictor takes; raise `ValueError`, with the line, for others."""
    return [row.values for row in json_rows(path)]


def _sampled(inputs: list[Any], args: argparse.Namespace) -> list[Any]:
    """Return the inputs that `--sample` leaves; raise `ValueError` if there are not as many."""
    if args.sample is None:
        return inputs
    if not 1 <= args.sample <= len(inputs):
        raise ValueError(
            f"--sample must lie between 1 and the {len(inputs)} inputs of "
            f"{args.input_file}, got {args.sample}"
        )
    return random.Random(0).sample(inputs, args.sample)


def _lines_of(report: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a table of F1 in percent and depth, and the F1 between models."""
    first, *_ = report["f1"].values()
    columns = [f"F1 with {name}, %" for name in first]
    yield "\t".join(["trees", *columns, "depth"])
    for name, figures in report["f1"].items():
        cells = [f"{100 * figure:.1f}" for figure in figures.values()]
        yield "\t".join([name, *cells, f"{report['depth'][name]:.1f}"])
    if "between_models" in report:
        yield f"F1 between models: {100 * report['between_models']:.1f} %"
