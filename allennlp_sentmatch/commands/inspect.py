"""The `inspect` subcommand draws how a model arrived at its predictions.

Into a new folder go, as far as the model has them, the trees and the attention of each input and
the words' saliency, and over all inputs the histograms of a CAS-LSTM's vertical forget gates.
Trees are printed too, as nested parentheses.
"""

import argparse
import json
import random
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from allennlp.commands.subcommand import Subcommand
from allennlp.common import logging as common_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.predictors import Predictor

from allennlp_sentmatch.commands.options import (
    add_device_option,
    add_progress_option,
    add_trust_option,
    add_verbose_option,
)
from allennlp_sentmatch.data.files.json_lines import parse_json_object
from allennlp_sentmatch.data.files.lines import read_lines
from allennlp_sentmatch.inspection import (
    SALIENCY_METHODS,
    Drawing,
    collect_gates,
    draw_attention_of,
    draw_gates,
    draw_saliency,
    draw_trees,
    draw_trees_of,
    has_saliency,
    has_vertical_gates,
    trees_of,
)
from allennlp_sentmatch.models.archival import load_archive

KINDS = ("trees", "attention", "gates", "saliency")


@Subcommand.register("inspect")
class Inspect(Subcommand):
    """`allennlp inspect ARCHIVE INPUT OUTPUT_DIR`."""

    def add_subparser(
        self,
        parser: "argparse._SubParsersAction[argparse.ArgumentParser]",
    ) -> argparse.ArgumentParser:
        """Describe the command line."""
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=__doc__, help="Draw what a model did with its inputs."
        )
        subparser.add_argument("archive_file", help="path to an archived model")
        subparser.add_argument(
            "input_file", help="JSON lines as `allennlp predict` takes them, an input each"
        )
        subparser.add_argument("output_dir", help="a folder that does not exist yet")
        subparser.add_argument(
            "--what",
            nargs="+",
            choices=KINDS,
            default=KINDS,
            help="default: whatever the model has",
        )
        subparser.add_argument(
            "--beside",
            metavar="ARCHIVE",
            help="another model, whose trees are drawn beside the first one's",
        )
        subparser.add_argument(
            "--saliency-method", choices=SALIENCY_METHODS, default="simple", help="default: simple"
        )
        subparser.add_argument(
            "--sample",
            type=int,
            metavar="N",
            help="take N inputs at random, with the same seed each time, instead of all of them",
        )
        add_device_option(subparser)
        add_trust_option(subparser)
        add_progress_option(subparser)
        add_verbose_option(subparser)
        subparser.set_defaults(func=_from_args)
        return subparser


def _from_args(args: argparse.Namespace) -> None:
    common_logging.FILE_FRIENDLY_LOGGING = args.file_friendly_logging
    folder = Path(args.output_dir)
    if folder.exists():
        raise ConfigurationError(f"{folder} exists already; delete it or name another folder")
    inputs = _read(args.input_file)
    if args.sample is not None:
        if not 1 <= args.sample <= len(inputs):
            raise ConfigurationError(
                f"--sample must lie between 1 and the {len(inputs)} inputs of {args.input_file}, "
                f"got {args.sample}"
            )
        inputs = random.Random(0).sample(inputs, args.sample)
    predictors = [
        Predictor.from_archive(load_archive(archive, args.cuda_device, args.trust_archive))
        for archive in (args.archive_file, args.beside)
        if archive is not None
    ]
    names = [args.archive_file, args.beside][: len(predictors)]
    folder.mkdir(parents=True)
    try:
        drawn = inputs if set(args.what) - {"gates"} else []
        for number, json_dict in enumerate(Tqdm.tqdm(drawn, desc="drawing"), start=1):
            for drawing in _draw(number, json_dict, predictors, names, args):
                _write(folder / f"{number:04d}_{drawing.file_name}", drawing.content)
        if "gates" in args.what and has_vertical_gates(predictors[0]._model):
            histograms = collect_gates(predictors[0], Tqdm.tqdm(inputs, desc="gates"))
            drawing = draw_gates("Vertical forget gates", histograms)
            _write(folder / drawing.file_name, drawing.content)
            numbers = json.dumps([asdict(histogram) for histogram in histograms], indent=2)
            _write((folder / drawing.file_name).with_suffix(".json"), numbers + "\n")
        if not any(folder.iterdir()):
            raise ConfigurationError(
                f"{args.archive_file} has nothing to show of {', '.join(args.what)}"
            )
    except BaseException:
        shutil.rmtree(folder)  # so that the command can be repeated
        raise


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def _read(input_file: str) -> list[dict[str, Any]]:
    inputs = []
    for number, line in read_lines(input_file):
        if line.strip():
            inputs.append(parse_json_object(line, f"{input_file}, line {number}"))
    if not inputs:
        raise ConfigurationError(f"{input_file} holds no inputs")
    return inputs


def _draw(
    number: int,
    json_dict: dict[str, Any],
    predictors: list[Predictor],
    names: list[str],
    args: argparse.Namespace,
) -> list[Drawing]:
    """Draw one input, and print its trees."""
    try:
        outputs = [predictor.predict_json(json_dict) for predictor in predictors]
    except ConfigurationError as error:
        raise ConfigurationError(f"{args.input_file}, input {number}: {error}") from error
    drawings = []
    if "trees" in args.what:
        for name, output in zip(names, outputs):
            for title, tree in trees_of(output).items():
                print(number, name, title, tree, sep="\t")
        if len(outputs) == 1:
            drawings += draw_trees_of(outputs[0])
        else:
            first, second = map(trees_of, outputs)
            drawings += [
                draw_trees(title, dict(zip(names, (tree, second[title]))))
                for title, tree in first.items()
                if title in second
            ]
    if "attention" in args.what:
        drawings += draw_attention_of(outputs[0])
    if "saliency" in args.what and has_saliency(predictors[0]):
        drawings.append(draw_saliency(predictors[0], json_dict, args.saliency_method))
    return drawings
