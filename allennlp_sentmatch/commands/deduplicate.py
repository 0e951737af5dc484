"""The `deduplicate` subcommand writes the sentences of a file without duplicates.

A sentence is left out if an earlier one, or one of another file, is as similar as `--threshold`.
"""

import argparse
import json
import logging
import os
from dataclasses import asdict

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands.command import Command, add_table_options
from allennlp_sentmatch.files.folders import check_absent, written_text
from allennlp_sentmatch.files.tables import located_sentences
from allennlp_sentmatch.files.texts import Sentences, checked_text, noting

logger = logging.getLogger(__name__)


@Subcommand.register("deduplicate")
class Deduplicate(Command):
    """Leave out the sentences of a file that say the same as others."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("input_file", help="one sentence per line, or a table with --column")
        parser.add_argument("output_file", help="gets the sentences that are kept, one per line")
        add_table_options(parser)
        for name, text in (
            ("--encoder", "an exported folder or an archive (default: the package's encoder)"),
            ("--classifier", "a folder of a PairClassifier, which decides"),
            ("--label", "the classifier's label of duplicates (default: 1)"),
            ("--against", "another file, such as training data: compare with its sentences alone"),
            ("--report", "write the reason for each removal to this file, as JSON lines"),
        ):
            parser.add_argument(name, help=text)
        parser.add_argument(
            "--threshold",
            type=float,
            help="the least cosine of duplicates (default: 0.9), or with --classifier their least "
            "probability (default: 0.5)",
        )
        parser.add_argument(
            "--ignore-words",
            action="store_true",
            help="let sentences that differ in their numbers or negations be duplicates",
        )

    def run(self, args: argparse.Namespace) -> None:
        # Every command of `allennlp` would wait for scikit-learn.
        from allennlp_sentmatch import PairClassifier, find_duplicates

        given = [path for path in (args.report, args.output_file) if path is not None]
        for path in given:
            check_absent(path)
        if len({*map(os.path.realpath, given)}) < len(given):
            raise ValueError("the output and --report must be two files")
        texts, against = _texts(args.input_file, args, as_lines=True), None
        if args.against is not None:
            against = _texts(args.against, args)
        classifier, label = None, args.label
        if args.classifier is not None:
            classifier = PairClassifier.load(args.classifier)
            label = {str(one): one for one in classifier.classes_.tolist()}.get(label, label)
        with noting(texts, "row {}".format, logger.warning):
            found = find_duplicates(
                texts,
                args.threshold,
                classifier=classifier,
                against=against,
                encoder=args.encoder,
                compare_words=not args.ignore_words,
                label=label,
            )
        reasons = (
            json.dumps({**asdict(one), "differing_words": one.differing_words}, ensure_ascii=False)
            for one in found.filtered
        )
        for path, lines in zip(given[::-1], (found.selected, reasons)):
            with written_text(path) as file:
                file.writelines(f"{line}\n" for line in lines)
        print(f"{args.output_file}: {len(found.selected):,} of {len(texts):,} sentences are kept")


def _texts(path: str, args: argparse.Namespace, as_lines: bool = False) -> Sentences:
    texts = []
    for source, text in located_sentences(path, args.column, args.delimiter):
        texts.append(checked_text(text, f"{source}: the sentence"))
        if as_lines and ("\n" in text or "\r" in text):
            raise ValueError(
                f"{source}: the sentence {text!r:.100} has a line end, but the output has one "
                "sentence per line; replace the line end by a space"
            )
    return Sentences(texts)
