"""The `inspect` subcommand draws the internals of a model for its predictions. Depending on the
model, it writes to a new folder the trees, the attention and the words' saliency of each input, and
the histograms of a CAS-LSTM's vertical forget gates over all inputs. Trees are also printed, as
nested parentheses.
"""

import argparse
import random
from pathlib import Path

from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.files.folders import check_absent
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.files.lines import filled_lines


class Inspect(Command):
    """Draw what a model did with its inputs."""

    name = "inspect"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        from allennlp_sentmatch.inspection import KINDS, SALIENCY_METHODS

        parser.add_argument("archive_file", help="path to an archived model")
        parser.add_argument(
            "input_file", help="JSON lines as `allennlp predict` takes them, one input per line"
        )
        parser.add_argument("output_dir", help="a folder that does not exist yet")
        parser.add_argument("--what", nargs="+", choices=KINDS, default=KINDS, help="what to draw")
        parser.add_argument(
            "--beside", metavar="ARCHIVE", help="another model, whose trees are drawn, too"
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
            help="take N inputs at random, with the same seed each time, instead of all of them",
        )

    def run(self, args: argparse.Namespace) -> None:
        from allennlp.predictors import Predictor

        from allennlp_sentmatch.inspection import draw_into_folder
        from allennlp_sentmatch.models.archival import load_archive

        folder = Path(args.output_dir)
        check_absent(folder, "folder")
        lines = filled_lines(args.input_file)
        inputs = [parse_json_object(line, str(source)) for source, line in lines]
        if args.sample is not None:
            if not 1 <= args.sample <= len(inputs):
                raise ValueError(
                    f"--sample must lie between 1 and the {len(inputs)} inputs of "
                    f"{args.input_file}, got {args.sample}"
                )
            inputs = random.Random(0).sample(inputs, args.sample)
        predictors = {}
        for path in filter(None, (args.archive_file, args.beside)):
            archive = load_archive(path, args.cuda_device, args.trust_archive)
            predictors[path] = Predictor.from_archive(archive)
        for tree in draw_into_folder(
            folder, predictors, inputs, args.what, args.saliency_method, args.input_file
        ):
            print(*tree, sep="\t")
