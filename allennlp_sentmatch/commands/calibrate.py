"""The `calibrate` subcommand calibrates a classifier's probabilities.

It fits a temperature by which the logits are divided (temperature scaling) on labeled data that the
model was not trained on. It writes to a new folder: an archive with calibrated predictions, a
report as JSON, and a reliability diagram.
"""

import argparse
from pathlib import Path
from typing import Any

from allennlp.commands.subcommand import Subcommand
from allennlp.common import logging as common_logging

from allennlp_sentmatch.calibration import calibrate_archive
from allennlp_sentmatch.commands.options import (
    add_device_option,
    add_progress_option,
    add_trust_option,
    add_verbose_option,
)
from allennlp_sentmatch.data.files.json_lines import parse_json_object


@Subcommand.register("calibrate")
class Calibrate(Subcommand):
    """`allennlp calibrate ARCHIVE INPUT OUTPUT_DIR`."""

    def add_subparser(
        self,
        parser: "argparse._SubParsersAction[argparse.ArgumentParser]",
    ) -> argparse.ArgumentParser:
        """Describe the command line."""
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=__doc__, help="Calibrate a classifier's probabilities."
        )
        subparser.add_argument("archive_file", help="path to an archived classifier")
        subparser.add_argument(
            "input_file",
            type=_data_path,
            help="labeled data that the model was not trained on, read by its validation reader; "
            "or a part of a file, as JSON: "
            '{"path": "train.tsv", "folds": {"number": 10, "keep": [0]}}',
        )
        subparser.add_argument("output_dir", help="a folder that does not exist yet")
        subparser.add_argument(
            "--test-file", type=_data_path, help="other labeled data, to measure the result on"
        )
        subparser.add_argument(
            "--positive-label",
            metavar="LABEL",
            help="the label that thresholds are chosen for (default: the model's positive_label)",
        )
        subparser.add_argument(
            "--precision",
            type=float,
            metavar="P",
            help="look for the smallest threshold with this precision of the positive label or, "
            "without one, of all labels",
        )
        add_device_option(subparser)
        add_trust_option(subparser)
        add_progress_option(subparser)
        add_verbose_option(subparser)
        subparser.set_defaults(func=_from_args)
        return subparser


def _data_path(text: str) -> Any:
    is_json = text.lstrip().startswith("{")
    return parse_json_object(text, "the data path") if is_json else text


def _from_args(args: argparse.Namespace) -> None:
    common_logging.FILE_FRIENDLY_LOGGING = args.file_friendly_logging
    report = calibrate_archive(
        args.archive_file,
        args.input_file,
        args.output_dir,
        args.test_file,
        args.precision,
        args.positive_label,
        args.cuda_device,
        args.trust_archive,
    )
    print(*report.lines(), "", sep="\n")
    print(f"wrote {Path(args.output_dir) / 'model.tar.gz'}")
