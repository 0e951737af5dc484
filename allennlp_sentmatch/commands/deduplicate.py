"""The `deduplicate` subcommand writes the sentences of a file without those that say the same.

A sentence is left out if an earlier one, or one of another file, is as similar as `--threshold`.
"""

import argparse
import json
import logging
import os
from pathlib import Path
from typing import Any

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.commands.command import Command, add_table_options
from allennlp_sentmatch.data.files.tables import located_sentences
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.standalone.files import check_absent
from allennlp_sentmatch.standalone.texts import Sentences, checked_text, noting

logger = logging.getLogger(__name__)


@Subcommand.register("deduplicate")
class Deduplicate(Command):
    """Leave out the sentences of a file that say the same as others."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("input_file", help="one sentence per line, or a table with --column")
        parser.add_argument("output_file", help="gets the sentences that are kept, one per line")
        add_table_options(parser)
        parser.add_argument("--encoder", help="as in Python: a folder or an archive")
        parser.add_argument(
            "--threshold",
            type=float,
            help="the least cosine of duplicates (default: 0.9), or with --classifier their least "
            "probability (default: 0.5)",
        )
        parser.add_argument(
            "--classifier", metavar="FOLDER", help="of a PairClassifier, which decides"
        )
        parser.add_argument("--label", help="the classifier's label of duplicates (default: 1)")
        parser.add_argument(
            "--against",
            metavar="FILE",
            help="compare the sentences with those of this file alone, such as training data, and "
            "leave out what says the same",
        )
        parser.add_argument(
            "--ignore-words",
            action="store_true",
            help="let sentences be duplicates that differ in their numbers or negations",
        )
        parser.add_argument(
            "--report", metavar="FILE", help="write the reason for each removal here, as JSON lines"
        )

    def run(self, args: argparse.Namespace) -> None:
        # Every command of `allennlp` would wait for scikit-learn.
        from allennlp_sentmatch import PairClassifier, find_duplicates

        with configuration_errors():
            for path in filter(None, (args.output_file, args.report)):
                check_absent(path)
                if not Path(path).absolute().parent.is_dir():
                    raise ConfigurationError(f"the folder of {path} does not exist")
            texts = _texts(args.input_file, args)
            against = None if args.against is None else _texts(args.against, args)
            classifier, label = None, args.label
            if args.classifier is not None:
                classifier = PairClassifier.load(args.classifier)
                label = {str(one): one for one in classifier.classes_.tolist()}.get(label, label)
            with noting(texts, "row {}".format, logger.warning):
                found = find_duplicates(
                    *(texts, args.threshold, classifier, against, args.encoder),
                    compare_words=not args.ignore_words,
                    label=label,
                )
        if args.report is not None:
            reasons = (
                {
                    "row": one.position,
                    "text": one.text,
                    "kept_row": one.kept_position,
                    "kept_text": one.kept_text,
                    "score": one.score,
                    "differing_words": one.differing_words,
                }
                for one in found.filtered
            )
            _write(args.report, [json.dumps(reason, ensure_ascii=False) for reason in reasons])
        _write(args.output_file, found.selected)
        print(f"{args.output_file}: {len(found.selected):,} of {len(texts):,} sentences are kept")


def _texts(path: str, args: argparse.Namespace) -> Sentences:
    return Sentences(
        checked_text(text, f"{source}: the sentence")
        for source, text in located_sentences(path, args.column, args.delimiter)
    )


def _write(path: str, lines: Any) -> None:
    """Write a file as a whole."""
    partial = f"{path}.partial"
    with open(partial, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    os.replace(partial, path)
