"""The `deduplicate` subcommand writes the sentences of a file without duplicates.

A sentence is left out if its similarity to an earlier sentence, or to one in another file, is at
least `--threshold`. The rows of a table are written unchanged. For example:
`sentmatch deduplicate corpus.txt kept.txt --report removed.jsonl`.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from allennlp_sentmatch.commands.command import Command, add_table_options
from allennlp_sentmatch.files.row import Source
from allennlp_sentmatch.files.rows_as_written import rows_as_written
from allennlp_sentmatch.files.streams import (
    STANDARD_OUTPUT,
    check_writable,
    readable_twice,
    written,
)
from allennlp_sentmatch.files.tables import located_sentences
from allennlp_sentmatch.files.texts import Sentences, checked_text, is_blank, noting

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.deduplication import Duplicate

logger = logging.getLogger(__name__)


class Deduplicate(Command):
    """Remove the sentences of a file that say the same as others."""

    name = "deduplicate"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "input_file",
            help="one sentence per line, or a table with --column; - is the standard input",
        )
        parser.add_argument(
            "output_file",
            help="a new file for the sentences that are kept, or for their rows of the table; "
            "- is the standard output",
        )
        add_table_options(parser)
        parser.add_argument(
            "--encoder",
            help="an exported folder, a folder of sentence-transformers or an archive (default: "
            "the encoder in this package)",
        )
        parser.add_argument(
            "--classifier", help="the folder of a PairClassifier, whose probabilities decide"
        )
        parser.add_argument(
            "--label", help="the classifier's label for duplicates (default: 1 or True)"
        )
        parser.add_argument(
            "--against",
            help="compare only with the sentences of this file, such as training data",
        )
        parser.add_argument(
            "--report",
            help="write the reason for each removal to this file, as JSON lines, the most doubtful "
            "ones first",
        )
        parser.add_argument(
            "--threshold",
            type=float,
            help="the lowest cosine of duplicates (default: 0.9) or, with --classifier, their "
            "lowest probability (default: 0.5)",
        )
        parser.add_argument(
            "--ignore-words",
            action="store_true",
            help="allow duplicates that differ in their numbers, negations, opposites or unknown "
            "words",
        )
        parser.add_argument(
            "--skip-blank", action="store_true", help="leave out blank sentences and their rows"
        )

    def run(self, args: argparse.Namespace) -> None:
        """Write the sentences that are kept, and print their number.

        Nothing is written after an error. Raise `ValueError` if an output exists, for a sentence
        that cannot be compared, with its line, and for an impossible threshold or label.
        """
        # Imported here: otherwise every command of `allennlp` would wait for scikit-learn.
        from allennlp_sentmatch import find_duplicates

        _check_outputs(args.output_file, args.report)
        corpus = _read(args.input_file, args, with_rows=True)
        against = None if args.against is None else _read(args.against, args).texts
        classifier, label = _classifier(args.classifier, args.label)
        with noting(corpus.texts, "row {}".format, logger.warning):
            found = find_duplicates(
                corpus.texts,
                args.threshold,
                classifier=classifier,
                against=against,
                encoder=args.encoder,
                compare_words=not args.ignore_words,
                label=label,
            )
        kept = [corpus.rows[position] for position in found.selected_positions]
        outputs: list[tuple[str, Iterable[str]]] = []
        if args.report is not None:
            outputs.append((args.report, map(_reason, found.doubtful_first)))
        outputs.append((args.output_file, [corpus.header, *kept]))
        _write(outputs)
        skipped = f"; left out as blank: {corpus.num_blank:,}" if corpus.num_blank else ""
        print(
            f"{args.output_file}: {len(kept):,} of {len(corpus.texts):,} sentences are kept"
            + skipped,
            file=sys.stderr if args.output_file in STANDARD_OUTPUT else sys.stdout,
        )


class _Corpus(NamedTuple):
    """The sentences of a file."""

    texts: Sentences
    rows: Sequence[str]
    """The text to write for each sentence that is kept, with its line end."""
    header: str
    """The text to write before the sentences."""
    num_blank: int
    """The number of blank sentences that were left out."""


def _check_outputs(output_file: str, report: Optional[str]) -> None:
    """Raise a `ValueError` if the outputs cannot be written, before anything is encoded."""
    paths = [path for path in (report, output_file) if path is not None]
    for path in paths:
        check_writable(path)
    places = {"-" if path in STANDARD_OUTPUT else os.path.realpath(path) for path in paths}
    if len(places) < len(paths):
        raise ValueError("the output and --report must be different files")


def _read(path: str, args: argparse.Namespace, with_rows: bool = False) -> _Corpus:
    """Read the sentences of a file, with the rows to write if asked.

    Without a column, the row of a sentence is its line. Raise `ValueError`, with the line, for a
    sentence that cannot be compared, and if there is none.
    """
    header = ""
    with readable_twice(path) as file:
        located = [*located_sentences(file, args.column, args.delimiter)]
        for source, text in located:
            _check_sentence(text, source, args.skip_blank)
        rows = [f"{text}\n" for _, text in located]
        if with_rows and args.column is not None:
            header, rows = rows_as_written(file, [source.line or 1 for source, _ in located])
    filled = [position for position, (_, text) in enumerate(located) if not is_blank(text)]
    if not filled:
        raise ValueError(f"{path} has no sentences to compare")
    texts = Sentences(located[position][1] for position in filled)
    num_blank = len(located) - len(filled)
    return _Corpus(texts, [rows[position] for position in filled], header, num_blank)


def _check_sentence(text: str, source: Source, skip_blank: bool) -> None:
    """Raise a `ValueError` for a sentence that cannot be compared."""
    if not is_blank(text):
        checked_text(text, f"{source}: the sentence")
    elif not skip_blank:
        raise ValueError(
            f"{source}: the sentence is blank; delete it, or leave out all blank sentences with "
            "--skip-blank"
        )


def _classifier(folder: Optional[str], label: Optional[str]) -> tuple[Any, Any]:
    """Load a classifier, if any; return it with its label of that name.

    Labels on the command line are strings, and a classifier's may be numbers.
    """
    if folder is None:
        return None, label
    from allennlp_sentmatch import PairClassifier

    classifier = PairClassifier.load(folder)
    for one in classifier.classes_.tolist():
        if str(one) == label:
            return classifier, one
    return classifier, label


def _reason(duplicate: "Duplicate") -> str:
    """Return a line of JSON about a removed sentence, with the most informative keys first."""
    reason = {
        "differing_words": duplicate.differing_words,
        "text": duplicate.text,
        "kept_text": duplicate.kept_text,
        "score": duplicate.score,
        "position": duplicate.position,
        "kept_position": duplicate.kept_position,
    }
    return json.dumps(reason, ensure_ascii=False) + "\n"


def _write(outputs: Sequence[tuple[str, Iterable[str]]]) -> None:
    """Write all outputs, or none of them after an error; the last one appears last."""
    with ExitStack() as stack:
        # The file that is opened first is moved to its place last.
        files = {path: stack.enter_context(written(path)) for path, _ in reversed(outputs)}
        for path, lines in outputs:
            files[path].writelines(lines)
            files[path].flush()  # a full disk is noticed before any file is moved to its place
