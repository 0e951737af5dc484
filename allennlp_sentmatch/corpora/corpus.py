"""Encode a corpus of any size into a `.npy` file, with interruptions at any moment.

Neither the sentences nor the vectors need fit into memory: a block of sentences is read, encoded
and written at a time, and a database on disk knows which sentences were met.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Optional, Union

from allennlp_sentmatch.corpora.encoder_sources import Encodes
from allennlp_sentmatch.corpora.encoders import BlockEncoder, CorpusEncoder, block_encoder
from allennlp_sentmatch.corpora.encoding_run import EncodingRun
from allennlp_sentmatch.corpora.survey import Survey, check_sample, survey_of
from allennlp_sentmatch.corpora.unfinished_run import (
    DATABASE,
    VECTORS,
    VectorsFile,
    open_database,
    work_folder,
)
from allennlp_sentmatch.files.digests import ending_digest
from allennlp_sentmatch.files.folders import AnyPath, check_absent
from allennlp_sentmatch.files.progress import progress_bar
from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.files.vectors import check_digest, map_vectors
from allennlp_sentmatch.nn.checks import check_positive


def encode_corpus(
    encoder: Union[BlockEncoder, Encodes],
    sentences: Callable[[], Iterator[str]],
    output_file: AnyPath,
    batch_size: int = 128,
    block_size: int = 8192,
    show_progress_bar: Optional[bool] = None,
    fingerprint: str = "",
    append: bool = False,
) -> None:
    """Write the vectors of sentences to a `.npy` file, in the order of the sentences.

    A block of sentences is encoded at a time, sorted by length, and every distinct sentence once.
    Until all is done, the work is in the folder `{output_file}.partial`. Called again after an
    interruption, even by `kill -9`, the function encodes the blocks that are not finished, or whose
    vectors are damaged. The resulting file has the same bytes as after an uninterrupted run.

    # Parameters

    encoder : `Union[BlockEncoder, Encodes]`
        An `ArchiveEncoder` or a `RayEncoder`, which give the same bytes and continue each other's
        interrupted runs, or anything with a method `encode`, such as a `SentenceEncoder`.
    sentences : `Callable[[], Iterator[str]]`
        A function that returns the sentences, the same ones in each call: they are counted first.
    output_file : `Union[str, os.PathLike]`
        Gets an array (number of sentences, E), float32, to be read by
        `numpy.load(output_file, mmap_mode="r")`. The file ends with two digests, which NumPy does
        not read; see `check_sentences` and `map_vectors`.
    batch_size : `int`, optional (default = `128`)
    block_size : `int`, optional (default = `8192`)
        The number of sentences between two points to resume from.
    show_progress_bar : `bool`, optional (default = `None`)
        By default, a progress bar appears after some seconds on a terminal.
    fingerprint : `str`, optional (default = `""`)
        Names the encoder, for instance by a digest of its archive: an interrupted run is not
        resumed with another one. Without it, a sample of the vectors tells.
    append : `bool`, optional (default = `False`)
        Whether `output_file` may have the vectors of the first sentences. Then only the others are
        encoded. The file stays unchanged until the new one is complete and replaces it.

    # Raises

    `TypeError` or `ValueError` for a sentence that cannot be encoded, with its row, counted from 0.
    `TypeError` if `sentences` is not a function.
    `ValueError` if `output_file` exists or cannot be written, if an interrupted run had other
    sentences, another model, another format of numbers or other sizes, if the sentences change
    while they are encoded, or if another process is writing the same file; with `append`, if the
    file is damaged, or is not the encoder's for the first sentences, by their digest and a sample
    of the vectors.
    """
    if not callable(sentences):
        raise TypeError(
            "sentences must be a function that returns them, since they are read twice, such as "
            f"`lambda: iter(texts)`, not {type(sentences).__name__}"
        )
    output = Path(os.path.realpath(output_file))  # a symbolic link stays one
    is_continued = append and output.is_file()
    check_positive(batch_size=batch_size, block_size=block_size)
    if not is_continued:
        if output.is_file():
            raise ValueError(
                f"{output} exists already; delete it, name another file or, if sentences are new "
                "at the end of its corpus, encode only these with --append (append=True)"
            )
        check_absent(output)
    blocks = block_encoder(encoder)
    before: Any = map_vectors(output) if is_continued else ()
    survey = survey_of(_checked(blocks, sentences()), len(before))
    if is_continued:
        _check_vectors_before(blocks, before, survey, output)
    settings = {
        "sentences": survey.digest,
        "encoder": fingerprint,
        "batch_size": batch_size,
        "block_size": block_size,
    }
    dtype = getattr(blocks, "dtype", None)
    if dtype not in (None, "float32"):  # "auto" may be another format on another processor
        settings["dtype"] = str(dtype)
    if len(before):
        settings["vectors before"] = len(before)
    with (
        noting(_read_again(sentences)),  # blocks do not know the rows of their sentences
        work_folder(output, settings) as folder,
        closing(open_database(folder / DATABASE)) as seen,
        progress_bar(survey.num_sentences, "encoding", " sentences", show_progress_bar) as progress,
    ):
        vectors = VectorsFile(
            folder / VECTORS, survey.num_sentences, blocks.vector_size, survey.digest
        )
        run = EncodingRun(folder, vectors, seen, block_size, progress, not fingerprint)
        run.encode(blocks, sentences(), batch_size, before)


def _checked(encoder: Any, sentences: Iterable[str]) -> Iterable[str]:
    """Return the sentences; errors name the row of the first that cannot be encoded.

    Archives and other encoders of blocks, which may accept blank sentences, check them themselves.
    """
    if not isinstance(encoder, CorpusEncoder):
        return sentences
    return (encoder.check(sentence, f"sentence {row}") for row, sentence in enumerate(sentences))


def _read_again(sentences: Callable[[], Iterator[str]]) -> Iterator[str]:
    """Yield the sentences, which are not read before the first one is needed."""
    yield from sentences()


def _check_vectors_before(encoder: BlockEncoder, vectors: Any, survey: Survey, file: Path) -> None:
    """Raise a `ValueError` unless a file has the encoder's vectors of the first sentences."""
    remedy = "delete it to encode all sentences"
    check_digest(survey.first_digest, file, remedy)
    is_ours = vectors.dtype == "<f4" and ending_digest(file) is not None
    if not is_ours or vectors.shape[1] != encoder.vector_size:
        raise ValueError(
            f"{file} was not made by this command with a model of vectors of size "
            f"{encoder.vector_size}; {remedy}"
        )
    check_sample(encoder, vectors, list(survey.sample), list(survey.sample.values()))
