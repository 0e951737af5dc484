"""Pairs of texts whose vectors are near, without the products of all pairs of vectors.

Texts are named by their numbers, the rows of their vectors.
"""

from collections.abc import Iterator
from typing import Any

import numpy
import torch

from allennlp_sentmatch.array_types import FloatArray, IntArray
from allennlp_sentmatch.corpora.turned_texts import TurnedTexts
from allennlp_sentmatch.standalone.vectors import cosines

BLOCK_SIZE = 8192  # vectors that are shortened at a time
POOL_SIZE = 16_384  # texts, and then pairs, that a block of texts is compared with at a time

NUM_DIRECTIONS = 64  # directions of the vectors in which all pairs are compared

SLACK = 1e-4  # above the rounding error of a cosine

NearPairs = numpy.ndarray[Any, Any]  # (P,) of `PAIR`: two texts' numbers, and their cosine
PAIR = numpy.dtype([("text", "i8"), ("earlier", "i8"), ("cosine", "f4")])


class NearTexts:
    """Finds the pairs of normalized vectors (N, E) whose cosine is at least `least_cosine`.

    Pairs of texts that exclude each other are left out.

    Every vector is (p, r), with p in the directions in which the vectors vary most. By the
    inequality of Cauchy and Schwarz,

        cos(a, b) <= p_a . p_b + |r_a| |r_b|,

    a product of short vectors (p, |r|), which excludes most pairs.
    """

    def __init__(self, vectors: FloatArray, least_cosine: float, turned: TurnedTexts) -> None:
        self._vectors = vectors
        self._least_cosine = least_cosine
        self._turned = turned
        self._short = _short_vectors(vectors)

    def pairs(self, block: IntArray, pool: IntArray, count: int) -> NearPairs:
        """Return, for each text of a block, the `count` nearest of the earlier ones in a pool.

        `block` (B,) and `pool` (P,) are numbers of texts. A text is earlier if its number is
        smaller. The pairs are sorted by text, and then by cosine, the largest first.
        """
        found = numpy.empty(0, PAIR)
        for start in range(0, len(pool), POOL_SIZE):
            part = pool[start : start + POOL_SIZE]
            for new in self._near_in(block, part):
                both = numpy.concatenate([found, new])
                found = nearest_pairs(both, count)
        return found

    def _near_in(self, block: IntArray, part: IntArray) -> Iterator[NearPairs]:
        """Yield the pairs of a block and a part of the pool, some at a time."""
        rows, columns = _at_least(self._short[block], self._short[part], self._least_cosine)
        num_products = len(block) * len(part)
        if len(rows) * 16 > num_products:  # products of whole vectors are faster
            rows, columns = _at_least(self._vectors[block], self._vectors[part], self._least_cosine)
        for start in range(0, len(rows), POOL_SIZE):
            some = slice(start, start + POOL_SIZE)
            yield self._near_among(block[rows[some]], part[columns[some]])

    def _near_among(self, texts: IntArray, earlier: IntArray) -> NearPairs:
        """Return the pairs, among P, whose cosine is large enough and whose texts do not exclude
        each other.
        """
        near = cosines(self._vectors[texts], self._vectors[earlier])
        chosen = numpy.flatnonzero((near >= self._least_cosine) & (earlier < texts))
        excluded = self._turned.exclude(texts[chosen], earlier[chosen])
        chosen = chosen[~excluded]
        return numpy.rec.fromarrays([texts[chosen], earlier[chosen], near[chosen]], PAIR)


def _short_vectors(vectors: FloatArray) -> FloatArray:
    """Return the short vectors (N, D + 1) of normalized vectors (N, E); see `NearTexts`."""
    sample = vectors[:: len(vectors) // 20_000 + 1]
    _, directions = numpy.linalg.eigh(sample.T @ sample)
    directions = directions[:, -NUM_DIRECTIONS:]  # (E, D)
    short = numpy.empty((len(vectors), directions.shape[1] + 1), numpy.float32)
    for start in range(0, len(vectors), BLOCK_SIZE):
        block = vectors[start : start + BLOCK_SIZE]
        part = block @ directions
        rest = block - part @ directions.T
        lengths = numpy.linalg.norm(rest, axis=1, keepdims=True)
        short[start : start + len(block)] = numpy.hstack([part, lengths])
    return short


def _at_least(first: FloatArray, second: FloatArray, least: float) -> tuple[IntArray, IntArray]:
    """Return the rows (P,) of two tables (N, D) and (M, D) whose product is at least `least`.

    Products that are smaller by the `SLACK` are included, since float32 is inexact.
    """
    products = (torch.from_numpy(first) @ torch.from_numpy(second).T).numpy()
    bound = least - SLACK
    largest = products.max(axis=1, initial=-1)
    rows = numpy.flatnonzero(largest >= bound)
    places, columns = numpy.nonzero(products[rows] >= bound)
    return rows[places], columns


def nearest_pairs(pairs: NearPairs, count: int) -> NearPairs:
    """Return the `count` pairs of each text with the largest cosines; the first ones in ties."""
    order = numpy.lexsort((pairs["earlier"], -pairs["cosine"], pairs["text"]))
    pairs = pairs[order]
    texts = pairs["text"]
    first_of_text = numpy.searchsorted(texts, texts)
    rank = numpy.arange(len(pairs)) - first_of_text
    return pairs[rank < count]
