"""The `search` subcommand finds the sentences of an encoded corpus that are similar to a given one.

`allennlp encode` writes the vectors. The neighbors of a query are those with the largest cosine.
Without `--query` and `--queries`, queries are read from a prompt.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import lazy_groups_of
from allennlp.predictors import Predictor

from allennlp_sentmatch.commands.command import Command, add_table_options, json_or_text
from allennlp_sentmatch.corpora import SentenceSearch
from allennlp_sentmatch.corpora.index_kinds import IndexKind
from allennlp_sentmatch.corpora.sentence_search import lines
from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.files.folders import check_absent, written_text
from allennlp_sentmatch.files.tables import read_sentences
from allennlp_sentmatch.files.texts import is_blank
from allennlp_sentmatch.files.vectors import check_sentences, map_vectors
from allennlp_sentmatch.models.archival import load_archive


@Subcommand.register("search")
class Search(Command):
    """Find the sentences of a corpus like a given one."""

    shared_options = ("--cuda-device", "--trust-archive")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="the archive that the corpus was encoded with")
        parser.add_argument("corpus_file", help="the file that was encoded")
        parser.add_argument("vectors_file", help="what `allennlp encode` wrote")
        add_table_options(parser)
        queries = parser.add_mutually_exclusive_group()
        queries.add_argument("--query", help="one sentence to search for")
        queries.add_argument("--queries", help="a file of sentences to search for, one per line")
        parser.add_argument("--top-k", type=int, default=5, help="neighbors of each query")
        parser.add_argument(
            "--rescore",
            nargs="?",
            const=True,
            metavar="ARCHIVE",
            help="also show what a model for pairs says of the query, as the premise, and each "
            "neighbor, as the hypothesis, and sort the neighbors by its score if it has one; "
            "ARCHIVE is the model's archive, by default the first one",
        )
        parser.add_argument(
            "--candidates",
            type=int,
            metavar="N",
            help="rescore the N nearest sentences and show the first --top-k of them",
        )
        parser.add_argument(
            "--index",
            help="the file of the FAISS index: if it exists, sentences that are new at the end of "
            "the corpus are added to it; otherwise the index is built and saved there",
        )
        parser.add_argument(
            "--deleted", metavar="FILE", help="sentences to leave out of the results, one per line"
        )
        parser.add_argument(
            "--index-kind",
            metavar="KIND",
            help="flat (exact), hnsw, ivf or ivfpq, or JSON with settings, such as "
            '\'{"type": "hnsw", "ef_search": 128}\'; by default, the number of sentences decides',
        )
        parser.add_argument(
            "--output-file",
            help="write the neighbors here, as JSON lines, and do not print them; not an existing "
            "file",
        )
        parser.add_argument("--batch-size", type=int, default=128, help="queries encoded at a time")

    def run(self, args: argparse.Namespace) -> None:
        for name, number in (("--top-k", args.top_k), ("--batch-size", args.batch_size)):
            if number < 1:
                raise ConfigurationError(f"{name} must be at least 1, got {number}")
        if args.candidates is not None and args.rescore is None:
            raise ConfigurationError("--candidates are rescored: it needs --rescore")
        if args.candidates is not None and args.candidates < args.top_k:
            raise ConfigurationError(
                f"--candidates must be at least --top-k, which is {args.top_k}; got "
                f"{args.candidates}"
            )
        if args.output_file:
            check_absent(args.output_file)
        kind = None if args.index_kind is None else _index_kind(args.index_kind)
        archive_options = (args.cuda_device, args.trust_archive)
        encoder = ArchiveEncoder.from_archive(args.archive_file, *archive_options)
        rescorer = None
        if isinstance(args.rescore, str):
            rescorer = Predictor.from_archive(load_archive(args.rescore, *archive_options))
        sentences = list(read_sentences(args.corpus_file, args.column, args.delimiter))
        vectors = map_vectors(args.vectors_file)
        remedy = "encode them again"
        if len(sentences) > len(vectors):
            remedy += ", or with --append if sentences are new at the end"
        check_sentences(sentences, args.vectors_file, remedy)
        listed = read_sentences(args.deleted) if args.deleted else ()
        deleted = {sentence for sentence in listed if not is_blank(sentence)}
        search = SentenceSearch(encoder, sentences, vectors, args.index, rescorer, kind, deleted)
        queries: Iterable[str]
        batch_size = args.batch_size
        if args.query is not None:
            if is_blank(args.query):
                raise ConfigurationError("--query must be a sentence, got nothing")
            queries = [args.query]
        elif args.queries is not None:
            queries = (query for query in read_sentences(args.queries) if not is_blank(query))
        else:
            queries, batch_size = _prompt(), 1
        output = args.output_file
        with written_text(output) if output else nullcontext() as file:
            for batch in lazy_groups_of(queries, batch_size):
                found = search.search(batch, args.top_k, args.rescore is not None, args.candidates)
                for query, neighbors in zip(batch, found):
                    unknown = (encoder.unknown_words(query), encoder.knows_no_word(query))
                    if file is None:
                        print(*lines(query, neighbors, *unknown), "", sep="\n")
                        continue
                    answer = {
                        "query": query,
                        "unknown_words": unknown[0],
                        "knows_no_word": unknown[1],
                        "neighbors": [*map(asdict, neighbors)],
                    }
                    file.write(json.dumps(answer, ensure_ascii=False) + "\n")


def _index_kind(text: str) -> IndexKind:
    given = json_or_text(text, "--index-kind")
    settings: Any = {"type": text} if given == text else given
    try:
        return IndexKind(settings.pop("type", ""), settings)
    except ConfigurationError as error:
        raise ConfigurationError(f"--index-kind {text}: {error}") from None


def _prompt() -> Iterator[str]:
    """Yield what is typed, until an empty line or the end of the input."""
    while True:
        try:
            query = input("query> ").strip()
        except EOFError:
            print()
            return
        if is_blank(query):
            return
        yield query
