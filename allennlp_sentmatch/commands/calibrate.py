"""The `calibrate` subcommand calibrates a classifier's probabilities.

It fits a temperature by which the logits are divided (temperature scaling) on labeled data that the
model was not trained on. It writes to a new folder: an archive with calibrated predictions, a
report as JSON, and a reliability diagram.
"""

import argparse
from pathlib import Path
from typing import Any

from allennlp_sentmatch.calibration import calibrate_archive
from allennlp_sentmatch.commands.command import Command, json_or_text
from allennlp_sentmatch.errors import configuration_errors


def _data_path(text: str) -> Any:
    with configuration_errors():  # argparse would not say what is wrong with the value
        return json_or_text(text, where="the data path")


class Calibrate(Command):
    """Calibrate a classifier's probabilities."""

    name = "calibrate"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="path to an archived classifier")
        parser.add_argument(
            "input_file",
            type=_data_path,
            help="labeled data that the model was not trained on, read by its validation reader; "
            "or a part of a file, as JSON: "
            '{"path": "train.tsv", "folds": {"number": 10, "keep": [0]}}',
        )
        parser.add_argument("output_dir", help="a folder that does not exist yet")
        parser.add_argument("--test-file", type=_data_path, help="other labeled data to measure on")
        parser.add_argument(
            "--positive-label",
            metavar="LABEL",
            help="the label that thresholds are chosen for (default: the model's positive_label)",
        )
        parser.add_argument(
            "--precision",
            type=float,
            metavar="P",
            help="look for the smallest threshold with this precision of the positive label or, "
            "without one, of all labels",
        )

    def run(self, args: argparse.Namespace) -> None:
        options = (args.precision, args.positive_label, args.cuda_device, args.trust_archive)
        report = calibrate_archive(
            args.archive_file, args.input_file, args.output_dir, args.test_file, *options
        )
        print(*report.lines(), "", sep="\n")
        print(f"wrote {Path(args.output_dir) / 'model.tar.gz'}")
