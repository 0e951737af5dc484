"""The `calibrate` subcommand calibrates a classifier's probabilities.

It fits a temperature by which the logits are divided (temperature scaling) on labeled data that the
model was not trained on. It writes to a new folder: an archive with calibrated predictions, a
report as JSON and, with the extra [plots], a reliability diagram. For example:
`allennlp calibrate model.tar.gz validation.tsv calibrated --test-file test.tsv`.
"""

import argparse
from pathlib import Path

from allennlp_sentmatch.commands.command import Command, json_or_text


class Calibrate(Command):
    """Calibrate a classifier's probabilities."""

    name = "calibrate"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="path to an archived classifier")
        parser.add_argument(
            "input_file",
            help="labeled data that the model was not trained on, read by its validation reader; "
            "or a part of a file, as JSON: "
            '{"path": "train.tsv", "folds": {"number": 10, "keep": [0]}}',
        )
        parser.add_argument("output_dir", help="a folder that does not exist yet")
        parser.add_argument("--test-file", help="other labeled data to measure on")
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
        """Write the calibrated archive and its report to the output folder, and print the report.

        Raise `ConfigurationError` if the model is not a classifier, if an example has no label, or
        if the folder exists; see `calibrate_archive`.
        """
        data_path = json_or_text(args.input_file, where="the data path")
        test_path = None
        if args.test_file is not None:
            test_path = json_or_text(args.test_file, where="the data path")
        from allennlp_sentmatch.calibration import calibrate_archive

        report = calibrate_archive(
            args.archive_file,
            data_path,
            args.output_dir,
            test_path,
            args.precision,
            args.positive_label,
            args.cuda_device,
            args.trust_archive,
        )
        print(*report.lines(), "", sep="\n")
        print(f"wrote {Path(args.output_dir) / 'model.tar.gz'}")
