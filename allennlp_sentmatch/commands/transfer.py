"""The `transfer` subcommand measures sentence vectors on the ten tasks of SuBiLSTM's table 2, and
on your own tasks.

Each task trains a linear classifier on top of the vectors, as SentEval does. The table's row is
printed; the exit status is 1 if a task failed, after the others have run.
"""

import argparse
import json
from functools import partial
from pathlib import Path

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.params import evaluate_file

from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.folders import written_text
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.models.archival import archive_digest
from allennlp_sentmatch.nn.checks import COUNT
from allennlp_sentmatch.standalone.sentence_transformers_folder import (
    check_sentence_transformers_folder,
)
from allennlp_sentmatch.transfer import (
    TASKS,
    SentenceVectors,
    StoredVectors,
    TransferBenchmark,
    TransferTask,
    WordVectorAverage,
    own_task,
)
from allennlp_sentmatch.transfer.sentence_vectors import EncodeFunction
from allennlp_sentmatch.transfer.tasks import SST_SENTENCES


class Transfer(Command):
    """Measure sentence vectors on SentEval's ten transfer tasks."""

    name = "transfer"
    shared_options = ("--cuda-device", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
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
        parser.add_argument("--data", metavar="FOLDER", help="with a folder for each data set")
        parser.add_argument(
            "--own-task",
            type=_own_task,
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
            choices=[task.name for task in TASKS],
            metavar="TASK",
            help=f"some of {', '.join(task.name for task in TASKS)} (default: all)",
        )
        parser.add_argument(
            "--sst-sentences",
            action="store_true",
            help="train SST on its 6,920 sentences and not on its 67,349 phrases",
        )
        parser.add_argument("--folds", type=int, default=10, help="folds of a cross-validation")
        parser.add_argument(
            "--seed", type=int, default=1111, help="the seed of the folds; SentEval's is 1111"
        )
        parser.add_argument("--cache", metavar="FOLDER", help="keep vectors here for later runs")
        parser.add_argument("--name", help="the encoder's name in the table (default: its path)")
        parser.add_argument("--output-file", help="write the figures here, as JSON")
        parser.add_argument("--batch-size", type=int, default=128, help="sentences at a time")

    def run(self, args: argparse.Namespace) -> None:
        # Otherwise, these mistakes would be reported only after hours.
        with configuration_errors():
            COUNT.check("--batch-size", args.batch_size)
        output = args.output_file
        if output is not None and not Path(output).absolute().parent.is_dir():
            raise ConfigurationError(f"the folder of --output-file {output} does not exist")
        benchmark = TransferBenchmark(args.data or ".", _tasks(args), args.folds, args.seed)
        if args.list_sentences is not None:
            sentences = benchmark.sentences()
            with written_text(args.list_sentences) as file:
                file.writelines(f"{sentence}\n" for sentence in sentences)
            print(f"wrote {len(sentences)} sentences to {args.list_sentences}")
            return
        name, encode, fingerprint = _encoder(args)
        report = benchmark.run(SentenceVectors(encode, args.cache, fingerprint), args.name or name)
        print(report.as_markdown())
        if output is not None:
            text = json.dumps(report.as_json(), indent=2, ensure_ascii=False)
            Path(output).write_text(f"{text}\n", encoding="utf-8")
        if report.errors:
            reasons = "; ".join(f"{task} ({error})" for task, error in report.errors.items())
            raise ConfigurationError(
                f"{len(report.errors)} of {len(report.errors) + len(report.results)} tasks failed: "
                f"{reasons}"
            )


def _tasks(args: argparse.Namespace) -> list[TransferTask]:
    if args.data is None and (args.tasks or not args.own_task):
        raise ConfigurationError("the ten tasks need --data, the folder of their data sets")
    all_or_none = [] if args.data is None else [task.name for task in TASKS]
    tasks = [task for task in TASKS if task.name in (args.tasks or all_or_none)]
    if args.sst_sentences:
        tasks = [SST_SENTENCES if task.name == "SST" else task for task in tasks]
    return [*tasks, *args.own_task]


def _own_task(text: str) -> TransferTask:
    """Return the task that JSON, or the JSON file of this path, describes."""
    is_file = not text.lstrip().startswith("{")
    try:
        content = evaluate_file(str(cached_path(text))) if is_file else text
    except ValueError as error:
        raise ConfigurationError(f"--own-task {text} is not JSON in UTF-8: {error}") from error
    with configuration_errors():  # argparse would not say what is wrong with the value
        return own_task(parse_json_object(content, "--own-task", "an object"))


def _encoder(args: argparse.Namespace) -> tuple[str, EncodeFunction, str]:
    """Return the encoder's name, the encoder, and a key that identifies its vectors."""
    if args.word_vectors is not None:
        average = WordVectorAverage.from_file(args.word_vectors)
        name = f"average of {Path(args.word_vectors).name}"
        return (
            name,
            partial(average.encode, show_progress_bar=True),
            files_digest(args.word_vectors),
        )
    if args.sentence_transformer is not None:
        from sentence_transformers import SentenceTransformer

        device = "cpu" if args.cuda_device < 0 else f"cuda:{args.cuda_device}"
        check_sentence_transformers_folder(args.sentence_transformer)
        transformer = SentenceTransformer(args.sentence_transformer, device=device)
        encode = partial(transformer.encode, batch_size=args.batch_size, show_progress_bar=True)
        name = args.sentence_transformer
        return name, encode, files_digest(name) if Path(name).is_dir() else name
    if args.vectors is not None:
        stored = StoredVectors.from_files(*args.vectors)
        return args.vectors[1], stored.encode, files_digest(*args.vectors)
    encoder = ArchiveEncoder.from_archive(args.archive_file, args.cuda_device, args.trust_archive)
    encode = partial(encoder.encode, batch_size=args.batch_size, show_progress_bar=True)
    return args.archive_file, encode, archive_digest(args.archive_file)
