"""Nearest neighbors among the vectors of a corpus, by cosine."""

import logging
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy

from allennlp_sentmatch.array_types import BoolArray, FloatArray, IntArray
from allennlp_sentmatch.corpora.distinct_vectors import DistinctVectors, add_distinct
from allennlp_sentmatch.corpora.index_file import (
    REMEDY,
    naming_index,
    not_an_index,
    read_index,
    write_index,
)
from allennlp_sentmatch.corpora.index_kinds import (
    TRAINING_VECTORS_PER_LIST,
    IndexKind,
    default_kind,
    faiss_library,
)
from allennlp_sentmatch.corpora.vector_arrays import (
    as_array,
    as_rows,
    as_table,
    chosen_rows,
    evenly,
    read_normalized,
)
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.standalone.vectors import cosines, normalized

logger = logging.getLogger(__name__)


TOLERANCE = 1e-3  # unit vectors whose components differ by at most this count as equal
NUM_CHECKED = 1024  # vectors of a saved index that are checked

FIRST_COUNT = 16
"""The number of nearest vectors that an index is asked for first, multiplied by 4 until enough are
known.
"""

ROUNDING = 1e-5  # the largest error of a cosine that FAISS computes
MAX_NUMBERS = 1 << 24  # components of candidates that are compared at a time

OTHER_VECTORS = "the first vectors are not those that the index has"

_Distinct = tuple[float, int]  # (-cosine, number of a distinct vector), in the order of results


class SentenceIndex:
    """A FAISS index that finds the vectors with the largest cosine, exactly or nearly.

    It contains the normalized vectors, whose inner products are the cosines; equal vectors are
    stored once. A zero vector has no direction: its cosine with any vector is defined as 0.

        index = SentenceIndex.build(vectors)
        cosines, positions = index.search(encoder.encode(["A man is asleep."]), k=5)

    Needs the package faiss. The classmethods `build` and `load` make an index.

    # Parameters

    index : `faiss.Index`
        An index of distinct normalized vectors, of FAISS's class for `index_kind`.
    index_kind : `IndexKind`
    vectors : `numpy.ndarray`, optional (default = `None`)
        (N, E), the vectors from which the index was built. An index of compressed vectors compares
        its candidates by them; without them, its cosines are approximations.
    rows : `Sequence[int]`, optional (default = `None`)
        The rows of the vectors that are in the index, in this order; by default, all rows.
    numbers : `numpy.ndarray`, optional (default = `None`)
        (N,), the number in `index` of the vector at each position; by default, no two are equal.
    """

    def __init__(
        self,
        index: Any,
        index_kind: IndexKind,
        vectors: Optional[FloatArray] = None,
        rows: Optional[Sequence[int]] = None,
        numbers: Optional[IntArray] = None,
    ) -> None:
        self._faiss_index = index
        self._num_distinct = index.ntotal
        self._kind = index_kind
        self._vectors = None if vectors is None else as_table(vectors, int(index.d))
        self._rows = None if rows is None else as_rows(rows)
        num_positions = index.ntotal if numbers is None else len(numbers)
        self._distinct = DistinctVectors(int(num_positions), numbers)
        self._is_mapped = False

    def __len__(self) -> int:
        return len(self._distinct)

    @property
    def _index(self) -> Any:
        """FAISS's index; raise `ValueError` if it has got vectors for another `SentenceIndex`."""
        if self._faiss_index.ntotal != self._num_distinct:
            raise ValueError(
                "this index has been extended: use the one that `extended` returned or, if it "
                "raised an error, load or build the index again"
            )
        return self._faiss_index

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""
        return int(self._faiss_index.d)

    @classmethod
    def build(
        cls,
        vectors: FloatArray,
        rows: Optional[Sequence[int]] = None,
        index_kind: Optional[IndexKind] = None,
    ) -> "SentenceIndex":
        """Return the index of vectors.

        A memory map is read in blocks. By default, the number of the vectors decides the kind, see
        `default_kind`; see the class for `rows`. Raise `ValueError` for anything but a table of
        finite numbers, and if the kind's settings do not fit the vectors.
        """
        _check_kind(index_kind)
        vectors = as_table(vectors)
        chosen = chosen_rows(vectors, rows)
        kind = index_kind or default_kind(len(chosen))
        index = kind.create(vectors.shape[1], len(chosen))
        logger.info("building an index of kind %s for %d vectors", kind.name, len(chosen))
        if not index.is_trained:
            needed = max(index.nlist * TRAINING_VECTORS_PER_LIST, kind.row.num_training_vectors)
            index.train(read_normalized(vectors, chosen[evenly(len(chosen), needed)]))
        kind.prepare_search(index)
        return cls(index, kind).extended(vectors, rows)

    def extended(
        self,
        vectors: FloatArray,
        rows: Optional[Sequence[int]] = None,
    ) -> "SentenceIndex":
        """Return an index of more vectors, which replaces this one: it has the first of them.

        This index cannot be used any more then, nor after an error in the middle. The kinds "ivf"
        and "ivfpq" keep the lists that the first vectors made. See `build` for the arguments. Raise
        `ValueError` if a sample of the first vectors is not what the index has, or if they have
        other duplicates, for vectors of another size, and for a mapped index.
        """
        vectors = as_table(vectors, self.vector_size)
        if self._is_mapped:  # FAISS would end the process
            raise ValueError("a mapped index cannot be extended; load it with mapped=False")
        num_before = len(self)
        chosen = chosen_rows(vectors, rows)
        if len(chosen) < num_before or len(self._other_positions(vectors, chosen)):
            raise ValueError(OTHER_VECTORS)
        index = self._index
        numbers = add_distinct(index, vectors, chosen)
        before = self._distinct.at(numpy.arange(num_before))
        if not numpy.array_equal(numbers[:num_before], before):
            raise ValueError(OTHER_VECTORS)
        has_equal = index.ntotal < len(chosen)
        new_numbers = numbers if has_equal else None
        return type(self)(index, self._kind, vectors, rows, new_numbers)

    def attach(
        self,
        vectors: FloatArray,
        rows: Optional[Sequence[int]],
        index_file: AnyPath,
    ) -> None:
        """Compare candidates by the vectors from which the index was built, see the class.

        Errors name the `index_file`. Raise `ValueError` if a sample of the vectors is not what the
        index has, for fewer vectors than it has, and for vectors of another size.
        """
        vectors = as_table(vectors, self.vector_size)
        chosen = chosen_rows(vectors, rows)
        if len(chosen) < len(self):
            raise ValueError(
                f"{index_file} has {len(self)} vectors, but only {len(chosen)} were given; {REMEDY}"
            )
        others = self._other_positions(vectors, chosen)
        if len(others):
            raise ValueError(
                f"the vector in row {chosen[others[0]]} (counted from 0) is not the one in "
                f"{index_file}; {REMEDY}"
            )
        self._vectors = vectors
        self._rows = None if rows is None else chosen

    def _other_positions(self, vectors: FloatArray, rows: IntArray) -> IntArray:
        """Return the positions, of a sample, at which the index has other vectors.

        `rows` (N,) are the rows of its vectors, and maybe more.
        """
        sample = evenly(len(self), NUM_CHECKED)
        if not len(sample):
            return sample
        return sample[~self.holds(read_normalized(vectors, rows[sample]), sample)]

    def search(self, vectors: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return the `k` nearest neighbors of vectors (Q, E).

        Return the cosines and the neighbors' positions in the index, both (Q, min(k, N)), the
        nearest first; equal cosines are in the order of their positions. The neighbors for a
        smaller `k` are the first of those for a larger one. If an inexact index finds fewer, the
        remaining positions are -1. Raise `ValueError` for vectors of another size or with a number
        that is not finite, and for a `k` below 1.
        """
        check_positive(k=k)
        table = as_table(as_array(vectors, "vectors"), self.vector_size)
        queries = read_normalized(table, numpy.arange(len(table)))
        found = self._nearest_distinct(queries, int(k))
        return self._ranked(found, int(k))

    def _nearest_distinct(self, queries: FloatArray, k: int) -> list[list[_Distinct]]:
        """Return the nearest distinct vectors of each query, at least `k` if there are so many.

        The first results are the same for any `k`: if FAISS's first neighbors depend on how many it
        is asked for, these numbers do not depend on `k`.
        """
        wanted = min(k, self._index.ntotal)
        found: list[list[_Distinct]] = [[] for _ in queries]
        unfinished = list(range(len(queries))) if wanted else []
        count = FIRST_COUNT + (0 if self._kind.row.depends_on_count else k)
        while unfinished:
            all_near, all_numbers = self._candidates(queries[unfinished], count)
            still_unfinished = []
            for query, near, numbers in zip(unfinished, all_near, all_numbers):
                is_all = bool(count >= self._index.ntotal or -1 in numbers)
                end = None if is_all else count
                least = _least_known(near, is_all)
                _extend(found[query], near[:end], numbers[:end], least)
                if not is_all and len(found[query]) < wanted:
                    still_unfinished.append(query)
            unfinished = still_unfinished
            count *= 4
        return found

    def _ranked(self, found: Sequence[Sequence[_Distinct]], k: int) -> tuple[FloatArray, IntArray]:
        """Return the cosines and positions (Q, min(k, N)) of the `k` nearest vectors.

        `found` has the nearest distinct ones of each of Q queries; see `search` for the order.
        """
        shape = (len(found), min(k, len(self)))
        cosines_found = numpy.full(shape, -numpy.inf, numpy.float32)
        positions_found = numpy.full(shape, -1, numpy.int64)
        for query, nearest in enumerate(found):
            # Each vector has at least one position, so that k vectors are enough.
            ranked = sorted(
                (distance, position)
                for distance, number in nearest[:k]
                for position in self._distinct.positions(number, k)
            )[:k]
            cosines_found[query, : len(ranked)] = [-distance for distance, _ in ranked]
            positions_found[query, : len(ranked)] = [position for _, position in ranked]
        return cosines_found, positions_found

    def _candidates(self, queries: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
        """Return cosines and numbers (Q, M) of some nearest vectors, the nearest first.

        M is at most `count` times the kind's `refine_factor`. The number is -1, and the cosine
        -inf, if an inexact index finds fewer.
        """
        count = min(count * self._kind.refine_factor, self._index.ntotal)
        num_parts = len(queries) * count * self.vector_size // MAX_NUMBERS + 1
        all_near = []
        all_numbers = []
        for part in numpy.array_split(queries, num_parts):
            _, numbers, vectors = self._index.search_and_reconstruct(part, count)
            if self._kind.row.compressed and self._vectors is not None:
                vectors = self._whole_vectors(self._vectors, numbers)
            near = cosines(vectors, part[:, None])
            near = numpy.where(numbers < 0, -numpy.inf, near)
            order = numpy.lexsort((numbers, -near))
            all_near.append(numpy.take_along_axis(near, order, axis=1))
            all_numbers.append(numpy.take_along_axis(numbers, order, axis=1))
        return numpy.concatenate(all_near), numpy.concatenate(all_numbers)

    def _whole_vectors(self, vectors: FloatArray, numbers: IntArray) -> FloatArray:
        """Return the vectors (Q, M, E) with some numbers (Q, M), and any vector for the number -1.

        Each is read once, in the order of the file.
        """
        read, places = numpy.unique(numbers.clip(0), return_inverse=True)
        rows = self._distinct.first_positions(read)
        if self._rows is not None:
            rows = self._rows[rows]
        return read_normalized(vectors, rows)[places.reshape(numbers.shape)]

    def vectors(self, positions: Union[Sequence[int], IntArray]) -> FloatArray:
        """Return the normalized vectors (len(positions), E) at some positions, as the index has
        them.

        Raise `ValueError` for anything but positions from 0 to N - 1.
        """
        numbers = self._distinct.at(chosen_rows(self, positions))
        index = self._index
        has_lists = hasattr(index, "direct_map")
        if has_lists:  # 8 bytes for each vector, only while they are needed
            index.make_direct_map()
        try:
            found: FloatArray = index.reconstruct_batch(numbers)
        finally:
            if has_lists:
                index.set_direct_map_type(faiss_library().DirectMap.NoMap)
        return found

    def holds(self, vectors: FloatArray, positions: Union[Sequence[int], IntArray]) -> BoolArray:
        """Return whether the index has these vectors (P, E) at these positions (P).

        They may differ by rounding, by `TOLERANCE` at most.
        """
        expected = normalized(as_table(vectors, self.vector_size))
        if self._kind.row.compressed:
            expected = self._index.sa_decode(self._index.sa_encode(expected))
        same = numpy.abs(self.vectors(positions) - expected) <= TOLERANCE
        # Rounding may change the code of a part of a vector; different vectors share few codes.
        least_share = 0.5 if self._kind.row.compressed else 1
        agreement: BoolArray = same.mean(axis=1) >= least_share
        return agreement

    def save(
        self,
        index_file: AnyPath,
        sentences_digest: Optional[str] = None,
        replace: bool = False,
    ) -> None:
        """Write the index to a file, which FAISS's own tools read as well.

        The file must not exist unless it may be replaced. It also has the digest of the sentences
        of the vectors, if given; see `check_sentences`. Raise `ValueError` if the file exists or
        cannot be written.
        """
        write_index(index_file, self._index, self._distinct.numbers, sentences_digest, replace)

    @classmethod
    def load(
        cls,
        index_file: AnyPath,
        index_kind: Optional[IndexKind] = None,
        vectors: Optional[FloatArray] = None,
        rows: Optional[Sequence[int]] = None,
        mapped: bool = True,
    ) -> "SentenceIndex":
        """Return the index in a file that `save` wrote, mapped into memory if FAISS can do that.

        An index that is not mapped can be extended. The file is first read once, for the digest at
        its end. The settings of `index_kind` for searching replace the saved ones; see the class
        for `vectors` and `rows`. Raise `ValueError` for any other file or kind of index, and if a
        sample of the vectors is not what the index has.
        """
        _check_kind(index_kind)
        saved = read_index(index_file, index_kind, mapped)
        loaded = cls(saved.index, index_kind or saved.kind, numbers=saved.numbers)
        loaded._is_mapped = saved.is_mapped
        with naming_index(index_file):
            sample = loaded.vectors(evenly(len(loaded), NUM_CHECKED))
        if not _is_normalized(sample, saved.kind):
            raise ValueError(f"{not_an_index(index_file)}: its vectors are not normalized")
        if index_kind is not None:
            index_kind.prepare_search(saved.index)
        if vectors is not None:
            loaded.attach(vectors, rows, index_file)
        return loaded


def _check_kind(kind: Any) -> None:
    """Raise `TypeError` for anything but an `IndexKind` or `None`."""
    if kind is not None and not isinstance(kind, IndexKind):
        raise TypeError(
            f'index_kind must be an IndexKind, such as IndexKind("hnsw"); got {kind!r:.50}'
        )


def _is_normalized(vectors: FloatArray, kind: IndexKind) -> bool:
    """Return whether vectors have the length 1 or 0 or, if they are compressed, a finite length."""
    with numpy.errstate(over="ignore", invalid="ignore"):  # infinite numbers are refused afterwards
        lengths = numpy.linalg.norm(vectors, axis=1)
    if kind.row.compressed:
        return bool(numpy.isfinite(lengths).all())
    has_length_1 = numpy.abs(lengths - 1) < TOLERANCE
    return bool((has_length_1 | (lengths == 0)).all())


def _least_known(near: FloatArray, is_all: bool) -> float:
    """Return the cosine above which an index has left out no vector, given the nearest ones."""
    return -numpy.inf if is_all else float(near.min()) + ROUNDING


def _extend(found: list[_Distinct], near: FloatArray, numbers: IntArray, least: float) -> None:
    """Add the vectors after those that are found whose cosine is above the `least`.

    Ties with the last vector wait: the index may have missed one of them.
    """
    last = found[-1] if found else (-numpy.inf, -1)
    for cosine, number in zip(near.tolist(), numbers.tolist()):
        new = (-cosine, number)
        if number >= 0 and cosine > least and new > last:
            found.append(new)
