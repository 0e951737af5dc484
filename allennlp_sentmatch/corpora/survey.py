"""Facts about a corpus that tell whether vectors are the vectors of its sentences."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Union

import numpy

from allennlp_sentmatch.array_types import Array, BoolArray, FloatArray, IntArray
from allennlp_sentmatch.corpora.encoders import BlockEncoder
from allennlp_sentmatch.corpora.sentence_index import TOLERANCE
from allennlp_sentmatch.corpora.vector_arrays import evenly
from allennlp_sentmatch.files.blocks import blocks_of
from allennlp_sentmatch.files.digests import SentencesDigest
from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.standalone.vectors import normalized

READ_TOGETHER = 8192  # sentences whose digest is computed at a time
NUM_SAMPLES = 32  # vectors to compare with the encoder's or a saved index's


class Survey(NamedTuple):
    """Facts about a corpus, from reading it once."""

    num_sentences: int
    """The number of sentences."""
    digest: str
    """The digest of all sentences."""
    first_digest: str
    """The digest of the first sentences, as many as were asked for."""
    sample: dict[int, str]
    """Some of the first sentences, at most `NUM_SAMPLES`, by their rows."""


def survey_of(sentences: Iterable[str], num_first: int = 0) -> Survey:
    """Read a corpus once, and return the facts about it and its first `num_first` sentences.

    The sample is spread evenly over the first sentences, which are all of them if there are fewer.
    """
    digest = SentencesDigest()
    rows = set(evenly(num_first, NUM_SAMPLES).tolist())
    sample: dict[int, str] = {}
    rest = iter(sentences)
    for block in blocks_of(islice(rest, num_first), READ_TOGETHER):
        for row, sentence in enumerate(block, digest.num_sentences):
            if row in rows:
                sample[row] = sentence
        digest.update(block)
    first_digest = digest.hexdigest()
    for block in blocks_of(rest, READ_TOGETHER):
        digest.update(block)
    return Survey(digest.num_sentences, digest.hexdigest(), first_digest, sample)


def check_sample(
    encoder: BlockEncoder,
    vectors: Array,
    rows: Union[Sequence[int], IntArray],
    sentences: Sequence[str],
) -> None:
    """Raise `ValueError` if some rows are not the encoder's vectors of their sentences; see
    `check_same`.
    """
    if not sentences:
        return
    with noting(()):  # these warnings were given when the sentences were encoded
        (encoded,) = encoder.encode_blocks([[*sentences]], len(sentences))
    check_same(vectors[rows], encoded, rows, sentences)


def check_same(
    vectors: FloatArray,
    encoded: FloatArray,
    rows: Union[Sequence[int], IntArray],
    sentences: Sequence[str],
) -> None:
    """Raise `ValueError` if the vectors (N, E) in N rows are not the `encoded` ones.

    See `alike`. The message has the first such row and its sentence.
    """
    same = alike(vectors, encoded)
    if not same.all():
        first = int(same.argmin())
        raise ValueError(
            f"the vector in row {rows[first]} (counted from 0; the sentence {sentences[first]!r}) "
            "is not the model's for this sentence; was it encoded with another model or dtype, or "
            "changed since?"
        )


def alike(vectors: FloatArray, others: FloatArray) -> BoolArray:
    """Return which of N vectors (N, E) have the directions of N others.

    Components of unit vectors may differ by `TOLERANCE`.
    """
    differences = numpy.abs(normalized(vectors) - normalized(others))
    same: BoolArray = differences.max(axis=1) <= TOLERANCE
    return same
