"""The `evaluate-generator` subcommand makes an artificial data set and measures its quality.

For each pair of the input file, the generator reads the first sentence and the label, and generates
a second sentence. The report has the accuracy with which a classifier trained on true pairs
recovers the labels (are the sentences consistent with them?), and distinct-1 and distinct-2 (how
diverse are they?): Choi 2020, "Sentence Pair Modeling using Deep Neural Network Sentence Encoders",
section 6.4.4 and table 6.5. For example:
`allennlp evaluate-generator cs_lvm.tar.gz pairs.jsonl --classifier classifier.tar.gz`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.files.folders import check_absent, write_json, written_text


class EvaluateGenerator(Command):
    """Generate a sentence from each pair's first sentence and label, and evaluate the results."""

    name = "evaluate-generator"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="path to an archived cs_lvm model")
        parser.add_argument(
            "input_file", help="labeled pairs, read by the generator's own validation reader"
        )
        parser.add_argument(
            "--classifier",
            required=True,
            help="path to the archive of a sentence-pair classifier that judges the sentences",
        )
        parser.add_argument("--output-file", help="a new file for the metrics, as JSON")
        parser.add_argument(
            "--predictions-output-file", help="a new file for the artificial pairs, as JSON lines"
        )
        parser.add_argument("--batch-size", type=int, default=32, help="pairs at a time")

    def run(self, args: argparse.Namespace) -> None:
        """Print the metrics, and write them and the artificial pairs to the output files.

        Raise `ValueError` if one of these exists.
        """
        for file_name in (args.output_file, args.predictions_output_file):
            if file_name is not None:
                check_absent(file_name)
        from allennlp.common.util import prepare_environment
        from allennlp.predictors import Predictor

        from allennlp_sentmatch.models.archival import load_archive
        from allennlp_sentmatch.predictors.pair_generator import evaluate_generator

        archive = load_archive(args.archive_file, args.cuda_device, args.trust_archive)
        prepare_environment(archive.config)
        generator: Any = Predictor.from_archive(archive, "pair_generator")
        archive = load_archive(args.classifier, args.cuda_device, args.trust_archive)
        classifier: Any = Predictor.from_archive(archive, "sentence_pair")
        metrics, pairs = evaluate_generator(generator, classifier, args.input_file, args.batch_size)
        if args.output_file is not None:
            write_json(Path(args.output_file), metrics)
        if args.predictions_output_file is not None:
            with written_text(args.predictions_output_file) as file:
                file.writelines(json.dumps(pair) + "\n" for pair in pairs)
        for name, value in metrics.items():
            print(f"{name}: {value:.4f}")
