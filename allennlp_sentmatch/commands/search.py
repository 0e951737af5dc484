"""The `search` subcommand finds the sentences of an encoded corpus that are similar to a given one.

`sentmatch encode` writes the vectors. The neighbors of a query are the sentences with the largest
cosines. Without `--query` and `--queries`, queries are read from a prompt. For example:
`sentmatch search package corpus.txt vectors.npy --query "How do I pay?"`.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Optional, TextIO

from allennlp_sentmatch.commands.command import (
    MODEL,
    Command,
    add_table_options,
    json_or_text,
)
from allennlp_sentmatch.files.blocks import blocks_of
from allennlp_sentmatch.files.folders import check_absent, written_text
from allennlp_sentmatch.files.tables import listed_sentences, read_sentences
from allennlp_sentmatch.files.texts import is_blank

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.index_kinds import IndexKind
    from allennlp_sentmatch.corpora.sentence_search import Neighbor, SentenceSearch


class Search(Command):
    """Find the sentences of a corpus that are similar to a given one."""

    name = "search"
    shared_options = ("--cuda-device", "--overrides", "--dtype", "--trust-archive")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("model", help=f"what the corpus was encoded with: {MODEL}")
        parser.add_argument("corpus_file", help="the file that was encoded")
        parser.add_argument("vectors_file", help="what `encode` wrote")
        add_table_options(parser)
        _add_queries(parser)
        _add_rescoring(parser)
        _add_index(parser)
        parser.add_argument(
            "--deleted", metavar="FILE", help="sentences to leave out of the results, one per line"
        )
        parser.add_argument(
            "--output-file",
            help="write the neighbors to this new file, as JSON lines, instead of printing them",
        )
        parser.add_argument("--batch-size", type=int, default=128, help="queries encoded together")

    def run(self, args: argparse.Namespace) -> None:
        """Print the neighbors of each query, or write them to the output file.

        Raise `ValueError` for impossible arguments before anything is loaded, and if the vectors or
        the index belong to another corpus or another model.
        """
        from allennlp_sentmatch.corpora.encoders import load_encoder

        _check(args)
        kind = None if args.index_kind is None else _index_kind(args.index_kind)
        encoder = load_encoder(
            args.model, args.cuda_device, args.trust_archive, args.overrides, args.dtype
        )
        search = _search(args, encoder, kind)
        batch_size = args.batch_size
        if args.query is not None:
            queries: Iterable[str] = [args.query]
        elif args.queries is not None:
            queries = (query for query in listed_sentences(args.queries) if not is_blank(query))
        else:
            queries = _prompt()
            batch_size = 1
        output: Any = written_text(args.output_file) if args.output_file else nullcontext()
        with output as file:
            for batch in blocks_of(queries, batch_size):
                found = search.search(batch, args.k, args.rescore is not None, args.candidates)
                for query, neighbors in zip(batch, found):
                    _write(query, neighbors, encoder, file)


def _add_queries(parser: argparse.ArgumentParser) -> None:
    """Add the sentences to search for, and how many neighbors each gets."""
    queries = parser.add_mutually_exclusive_group()
    queries.add_argument("--query", help="one sentence to search for")
    queries.add_argument("--queries", help="a file of sentences to search for, one per line")
    parser.add_argument("--k", type=int, default=5, help="how many neighbors of each query to show")


def _add_rescoring(parser: argparse.ArgumentParser) -> None:
    """Add the options of a model that reads each pair of a query and a neighbor."""
    parser.add_argument(
        "--rescore",
        nargs="?",
        const=True,
        metavar="ARCHIVE",
        help="also show what a model for pairs says of the query, as the premise, and each "
        "neighbor, as the hypothesis, and sort the neighbors by its score if it has one. "
        "ARCHIVE is the model's archive (default: the encoder's archive). This needs AllenNLP",
    )
    parser.add_argument(
        "--candidates",
        type=int,
        metavar="N",
        help="rescore the N nearest sentences and show the first --k of them",
    )


def _add_index(parser: argparse.ArgumentParser) -> None:
    """Add the file and the kind of the FAISS index."""
    parser.add_argument(
        "--index",
        help="the file of the FAISS index: if it exists, sentences that are new at the end of "
        "the corpus are added to it; otherwise the index is built and saved there",
    )
    parser.add_argument(
        "--index-kind",
        metavar="KIND",
        help="flat (exact), hnsw, ivf or ivfpq, or JSON with settings, such as "
        '\'{"type": "hnsw", "ef_search": 128}\'; by default, the number of sentences decides',
    )


def _check(args: argparse.Namespace) -> None:
    """Raise `ValueError` for invalid arguments, before anything is loaded."""
    from allennlp_sentmatch.nn.checks import COUNT

    COUNT.check("--k", args.k)
    COUNT.check("--batch-size", args.batch_size)
    if args.candidates is not None and args.rescore is None:
        raise ValueError("--candidates needs --rescore, the model that rescores the candidates")
    if args.candidates is not None and args.candidates < args.k:
        raise ValueError(
            f"--candidates must be at least --k, which is {args.k}; got {args.candidates}"
        )
    if args.query is not None and is_blank(args.query):
        raise ValueError("--query is blank; expected a sentence")
    if args.output_file:
        check_absent(args.output_file)


def _search(
    args: argparse.Namespace,
    encoder: Any,
    kind: "Optional[IndexKind]",
) -> "SentenceSearch":
    """Return the search in the corpus that the arguments name.

    Raise `ValueError` unless the vectors belong to the sentences; see `SentenceSearch`, too.
    """
    from allennlp_sentmatch.corpora.sentence_search import SentenceSearch
    from allennlp_sentmatch.files.vectors import check_sentences, map_vectors

    archive = args.rescore if isinstance(args.rescore, str) else None
    overrides = ""
    if args.rescore is True and getattr(encoder, "match_needs_texts", False):
        archive = args.model
        overrides = args.overrides
    rescorer = None
    if archive is not None:
        rescorer = _rescorer(archive, args.cuda_device, args.trust_archive, overrides)
    sentences = list(read_sentences(args.corpus_file, args.column, args.delimiter))
    vectors = map_vectors(args.vectors_file)
    remedy = "encode them again"
    if len(sentences) > len(vectors):
        remedy += ", or with --append if sentences are new at the end"
    check_sentences(sentences, args.vectors_file, remedy)
    listed = listed_sentences(args.deleted) if args.deleted else ()
    deleted = {sentence for sentence in listed if not is_blank(sentence)}
    return SentenceSearch(encoder, sentences, vectors, args.index, rescorer, kind, deleted)


def _rescorer(archive_file: str, cuda_device: int, trust: bool, overrides: str) -> Any:
    """Return the predictor of an archive; raise `ValueError` for anything else."""
    from allennlp_sentmatch.corpora.encoder_sources import check_archive

    check_archive(archive_file)
    from allennlp.predictors import Predictor

    from allennlp_sentmatch.models.archival import load_archive

    archive = load_archive(archive_file, cuda_device, trust, overrides=overrides)
    return Predictor.from_archive(archive)


def _write(query: str, neighbors: "list[Neighbor]", encoder: Any, file: Optional[TextIO]) -> None:
    """Write a query's neighbors to a file, or print them."""
    unknown_words = encoder.unknown_words(query)
    knows_no_word = encoder.knows_no_word(query)
    if file is None:
        print(*table_lines(query, neighbors, unknown_words, knows_no_word), "", sep="\n")
        return
    answer = {
        "query": query,
        "unknown_words": unknown_words,
        "knows_no_word": knows_no_word,
        "neighbors": [asdict(neighbor) for neighbor in neighbors],
    }
    file.write(json.dumps(answer, ensure_ascii=False) + "\n")


def table_lines(
    query: str,
    neighbors: "Sequence[Neighbor]",
    unknown_words: Sequence[str] = (),
    knows_no_word: bool = False,
) -> Iterator[str]:
    """Yield the lines of a table of queries with their neighbors, as in table 3.3 of Choi's thesis.

    It also has the cosine, the label with its probability or the score, and the unknown words.
    """
    yield f"#\t{query}"
    if unknown_words:
        quoted = ", ".join(f"“{word}”" for word in unknown_words)
        yield f"#\tNot in the model's vocabulary, and read as one unknown word: {quoted}."
    if knows_no_word:
        yield "#\tThe model knows no word of this query: these neighbors say nothing."
    for rank, neighbor in enumerate(neighbors, start=1):
        line = f"{rank}\t{neighbor.sentence}\t{neighbor.cosine:.3f}"
        if neighbor.label is not None and neighbor.probs_by_label is not None:
            line += f"\t{neighbor.label} {neighbor.probs_by_label[neighbor.label]:.3f}"
        if neighbor.score is not None:
            line += f"\t{neighbor.score:.3f}"
        yield line


def _index_kind(text: str) -> "IndexKind":
    """Return the kind of index that `--index-kind` names, with its settings if it is JSON.

    Raise `ValueError` for an unknown kind or setting.
    """
    from allennlp_sentmatch.corpora.index_kinds import IndexKind

    given = json_or_text(text, "--index-kind")
    settings: Any = {"type": text} if given == text else given
    try:
        return IndexKind(settings.pop("type", ""), settings)
    except ValueError as error:
        raise ValueError(f"--index-kind {text}: {error}") from None


def _prompt() -> Iterator[str]:
    """Yield the lines that are typed, until an empty line or the end of the input."""
    while True:
        try:
            query = input("query> ").strip()
        except EOFError:
            print()
            return
        if is_blank(query):
            return
        yield query
