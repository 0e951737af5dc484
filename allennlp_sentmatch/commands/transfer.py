"""The `transfer` subcommand measures sentence vectors on the ten tasks of SuBiLSTM's table 2, and
on your own tasks.

Each task trains a linear classifier on top of the vectors, as SentEval does. The table's row is
printed; the exit status is 1 if a task failed, after the others have run. For example:
`allennlp transfer model.tar.gz --data data --tasks MR TREC`.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.folders import check_absent, written_text
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.nn.checks import COUNT

if TYPE_CHECKING:
    from allennlp_sentmatch.transfer import TransferReport, TransferTask
    from allennlp_sentmatch.transfer.sentence_vectors import EncodeFunction


class Transfer(Command):
    """Measure sentence vectors on SentEval's ten transfer tasks."""

    name = "transfer"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        _add_encoders(parser)
        _add_tasks(parser)
        parser.add_argument("--folds", type=int, default=10, help="folds of a cross-validation")
        parser.add_argument(
            "--seed", type=int, default=1111, help="the seed of the folds; SentEval's is 1111"
        )
        parser.add_argument("--cache", metavar="FOLDER", help="keep vectors here for later runs")
        parser.add_argument("--name", help="the encoder's name in the table (default: its path)")
        parser.add_argument("--output-file", help="a new file for the figures, as JSON")
        parser.add_argument("--batch-size", type=int, default=128, help="sentences at a time")

    def run(self, args: argparse.Namespace) -> None:
        """Run the tasks, print the table's row, and write the figures; or list the sentences.

        Raise `ValueError` for impossible arguments before anything is encoded, and at the end if a
        task failed.
        """
        from allennlp_sentmatch.transfer import SentenceVectors, TransferBenchmark

        _check(args)
        benchmark = TransferBenchmark(args.data or ".", _tasks(args), args.folds, args.seed)
        if args.list_sentences is not None:
            _list_sentences(benchmark.sentences(), args.list_sentences)
            return
        encoder = _encoder(args)
        vectors = SentenceVectors(encoder.encode, args.cache, encoder.fingerprint)
        report = benchmark.run(vectors, args.name or encoder.name)
        print(report.as_markdown())
        if args.output_file is not None:
            text = json.dumps(report.as_json(), indent=2, ensure_ascii=False)
            with written_text(args.output_file) as file:
                file.write(f"{text}\n")
        _check_complete(report)


def _add_encoders(parser: argparse.ArgumentParser) -> None:
    """Add the sources of the vectors; one of them is required."""
    encoders = parser.add_mutually_exclusive_group(required=True)
    encoders.add_argument("archive_file", nargs="?", help="path to an archived model")
    encoders.add_argument(
        "--word-vectors",
        metavar="FILE",
        help="average the word vectors of this file, in GloVe's text format",
    )
    encoders.add_argument(
        "--sentence-transformer",
        metavar="NAME",
        help="a model of sentence-transformers: a name on the Hugging Face Hub, or a folder",
    )
    encoders.add_argument(
        "--vectors",
        nargs=2,
        metavar=("SENTENCES.txt", "VECTORS.npy"),
        help="sentences, one per line, and their vectors, one per row",
    )
    encoders.add_argument(
        "--list-sentences",
        metavar="FILE",
        help="encode nothing: write the tasks' sentences here, one per line, for --vectors",
    )


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the tasks and their data."""
    from allennlp_sentmatch.transfer import TASKS

    names = [task.name for task in TASKS]
    parser.add_argument("--data", metavar="FOLDER", help="has a folder for each data set")
    parser.add_argument(
        "--own-task",
        action="append",
        default=[],
        metavar="TASK",
        help="a task of your own, as JSON or the path of a JSON file, such as "
        '\'{"train": "pairs.tsv", "sentence1": "text_a", "sentence2": "text_b", '
        '"label": "same"}\'; may be repeated; without --data, the ten tasks are left out',
    )
    parser.add_argument(
        "--tasks",
        nargs="+",
        choices=names,
        metavar="TASK",
        help=f"some of {', '.join(names)} (default: all)",
    )
    parser.add_argument(
        "--sst-sentences",
        action="store_true",
        help="train SST on its 6,920 sentences and not on its 67,349 phrases",
    )


def _check(args: argparse.Namespace) -> None:
    """Raise a `ValueError` for mistakes that would otherwise be reported only after hours."""
    COUNT.check("--batch-size", args.batch_size)
    for path in (args.output_file, args.list_sentences):
        if path is not None:
            check_absent(path)
    if args.data is None and (args.tasks or not args.own_task):
        raise ValueError("the ten tasks need --data, the folder of their data sets")


def _tasks(args: argparse.Namespace) -> "list[TransferTask]":
    """Return the chosen ones of the ten tasks, in the table's order, and then the user's own."""
    from allennlp_sentmatch.transfer import TASKS
    from allennlp_sentmatch.transfer.tasks import SST_SENTENCES

    own = [_own_task(text) for text in args.own_task]
    if args.data is None:
        return own
    tasks = [task for task in TASKS if args.tasks is None or task.name in args.tasks]
    if args.sst_sentences:
        tasks = [SST_SENTENCES if task.name == "SST" else task for task in tasks]
    return [*tasks, *own]


def _own_task(text: str) -> "TransferTask":
    """Return the task that JSON, or the JSON or Jsonnet file of this path, describes.

    Raise `ValueError` for anything but an object, and for settings that no task has.
    """
    from allennlp.common.file_utils import cached_path
    from allennlp.common.params import evaluate_file

    from allennlp_sentmatch.transfer import own_task

    is_file = not text.lstrip().startswith("{")
    try:
        content = evaluate_file(str(cached_path(text))) if is_file else text
    except ValueError as error:
        raise ValueError(f"--own-task {text} is not JSON in UTF-8: {error}") from error
    return own_task(parse_json_object(content, "--own-task", "an object"))


def _list_sentences(sentences: list[str], file_name: str) -> None:
    """Write the sentences of the tasks, one per line.

    Raise `ValueError` for a sentence of several lines: it would not be found in the file again.
    """
    for sentence in sentences:
        if "\n" in sentence or sentence.endswith("\r"):
            raise ValueError(
                f"the sentence {shorten(sentence)} has a line end, so that it cannot be on a line "
                "of --list-sentences; replace the line end by a space in the data"
            )
    with written_text(file_name) as file:
        file.writelines(f"{sentence}\n" for sentence in sentences)
    print(f"wrote {len(sentences)} sentences to {file_name}")


def _check_complete(report: "TransferReport") -> None:
    """Raise a `ValueError` with the reasons if tasks failed."""
    if not report.errors:
        return
    reasons = "; ".join(f"{task} ({error})" for task, error in report.errors.items())
    number = len(report.errors) + len(report.results)
    raise ValueError(f"{len(report.errors)} of {number} tasks failed: {reasons}")


class _Encoder(NamedTuple):
    """The model or file that gives the vectors."""

    name: str
    encode: "EncodeFunction"
    fingerprint: str
    """A key that no other encoder's vectors have."""


def _encoder(args: argparse.Namespace) -> _Encoder:
    """Return the encoder that the arguments name: a model, a file of vectors or word vectors."""
    if args.word_vectors is not None:
        return _word_vectors(args.word_vectors)
    if args.sentence_transformer is not None:
        return _sentence_transformer(args)
    if args.vectors is not None:
        from allennlp_sentmatch.transfer import StoredVectors

        stored = StoredVectors.from_files(*args.vectors)
        return _Encoder(args.vectors[1], stored.encode, files_digest(*args.vectors))
    from allennlp_sentmatch.encoding import ArchiveEncoder
    from allennlp_sentmatch.models.archival import archive_digest

    archive = ArchiveEncoder.from_archive(args.archive_file, args.cuda_device, args.trust_archive)
    encode = partial(archive.encode, batch_size=args.batch_size, show_progress_bar=True)
    return _Encoder(args.archive_file, encode, archive_digest(args.archive_file))


def _word_vectors(file_name: str) -> _Encoder:
    """Return the average of the word vectors in a file."""
    from allennlp_sentmatch.transfer import WordVectorAverage

    average = WordVectorAverage.from_file(file_name)
    encode = partial(average.encode, show_progress_bar=True)
    return _Encoder(f"average of {Path(file_name).name}", encode, files_digest(file_name))


def _sentence_transformer(args: argparse.Namespace) -> _Encoder:
    """Return a model of sentence-transformers.

    Raise `ValueError` for a folder whose loading could run code.
    """
    from sentence_transformers import SentenceTransformer

    from allennlp_sentmatch.standalone.sentence_transformers_folder import (
        check_sentence_transformers_folder,
    )

    name = args.sentence_transformer
    device = "cpu" if args.cuda_device < 0 else f"cuda:{args.cuda_device}"
    check_sentence_transformers_folder(name)
    transformer = SentenceTransformer(name, device=device)
    encode = partial(transformer.encode, batch_size=args.batch_size, show_progress_bar=True)
    return _Encoder(name, encode, files_digest(name) if Path(name).is_dir() else name)
