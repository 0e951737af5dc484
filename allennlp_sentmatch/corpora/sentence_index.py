"""Nearest neighbors among the vectors of a corpus, by cosine."""

import hashlib
import logging
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from allennlp_sentmatch.corpora.index_kinds import (
    KINDS,
    TRAINING_VECTORS_PER_LIST,
    IndexKind,
    default_kind,
    faiss_library,
)
from allennlp_sentmatch.files.digests import (
    ENDING_LENGTH,
    content_digest,
    ending,
    ending_digest,
    is_whole,
)
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.standalone.encoder import FloatArray, cosines, normalized

logger = logging.getLogger(__name__)

IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]
BoolArray = numpy.ndarray[Any, numpy.dtype[numpy.bool_]]

TOLERANCE = 1e-3  # unit vectors whose components differ by at most this count as equal
NUM_CHECKED = 1024  # vectors of a saved index that are checked

FIRST_COUNT = 16
"""How many nearest vectors an index is first asked for; the number is multiplied by 4 until enough
are known.
"""

ROUNDING = 1e-5  # the largest error of a cosine that FAISS computes
MAX_NUMBERS = 1 << 24  # components of candidates that are compared at a time

POSITIONS_MARK = b"\nallennlp_sentmatch positions "
"""Follows the numbers of the vectors at all positions in a file, and precedes their count."""

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
        An index of distinct normalized vectors, of FAISS's class for `kind`.
    kind : `IndexKind`
    vectors : `numpy.ndarray`, optional (default = `None`)
        (N, E), the vectors from which the index was built. An index of compressed vectors compares
        its candidates by them; without them, its cosines are approximations.
    rows : `Sequence[int]`, optional (default = `None`)
        The rows of the vectors that are in the index, in this order; by default, all rows.
    distinct : `numpy.ndarray`, optional (default = `None`)
        (N), the number in `index` of the vector at each position; by default, no two are equal.
    """

    def __init__(
        self,
        index: Any,
        kind: IndexKind,
        vectors: Optional[FloatArray] = None,
        rows: Optional[Sequence[int]] = None,
        distinct: Optional[IntArray] = None,
    ) -> None:
        self._index = index
        self._kind = kind
        self._vectors = vectors
        self._rows = None if rows is None else numpy.asarray(rows, numpy.int64)
        self._distinct = distinct
        self._is_mapped = False
        if distinct is not None:
            self._positions = numpy.argsort(distinct, kind="stable")  # the positions of each vector
            self._starts = numpy.append(0, numpy.bincount(distinct).cumsum())

    def __len__(self) -> int:
        return int(self._index.ntotal) if self._distinct is None else len(self._distinct)

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""
        return int(self._index.d)

    @classmethod
    def build(
        cls,
        vectors: FloatArray,
        rows: Optional[Sequence[int]] = None,
        block_size: int = 8192,
        kind: Optional[IndexKind] = None,
    ) -> "SentenceIndex":
        """Return the index of vectors.

        A memory map is read in blocks of `block_size` vectors. By default, their number decides the
        kind, see `default_kind`; see the class for `rows`. Raises `ValueError` for anything but a
        table of finite numbers, and if the kind's settings do not fit the vectors.
        """
        vectors = _table(vectors)
        chosen = numpy.arange(len(vectors)) if rows is None else numpy.asarray(rows, numpy.int64)
        kind = kind or default_kind(len(chosen))
        index = kind.create(vectors.shape[1], len(chosen))
        logger.info("building an index of kind %s for %d vectors", kind.name, len(chosen))
        if not index.is_trained:
            needed = max(index.nlist * TRAINING_VECTORS_PER_LIST, kind.row.num_training_vectors)
            index.train(_read(vectors, chosen[evenly(len(chosen), needed)]))
        kind.prepare_search(index)
        return cls(index, kind).extended(vectors, rows, block_size)

    def extended(
        self,
        vectors: FloatArray,
        rows: Optional[Sequence[int]] = None,
        block_size: int = 8192,
    ) -> "SentenceIndex":
        """Return an index of more vectors, which replaces this one: it has the first of them.

        The kinds "ivf" and "ivfpq" keep the lists that the first vectors made. See `build` for the
        arguments. `holds` compares the first vectors. Raises `ValueError` if the first vectors have
        other duplicates than this index, for vectors of another size, and for a mapped index.
        """
        vectors = _table(vectors, self.vector_size)
        if self._is_mapped:  # FAISS would end the process
            raise ValueError("a mapped index cannot be extended; load it with mapped=False")
        index = self._index
        num_before = len(self)
        chosen = numpy.arange(len(vectors)) if rows is None else numpy.asarray(rows, numpy.int64)
        # Searches would never leave a graph of equal vectors.
        distinct = numpy.empty(len(chosen), numpy.int64)
        known: dict[bytes, int] = {}
        for start in range(0, len(chosen), block_size):
            block = _read(vectors, chosen[start : start + block_size])
            new: list[int] = []
            for position, vector in enumerate(block + 0.0, start):  # turns -0.0 into 0.0
                digest = hashlib.blake2b(vector.data, digest_size=16).digest()
                distinct[position] = known.setdefault(digest, len(known))
                if distinct[position] == index.ntotal + len(new):
                    new.append(position - start)
            index.add(block[new])
        before = numpy.arange(num_before) if self._distinct is None else self._distinct
        if not numpy.array_equal(distinct[:num_before], before):
            raise ValueError("the first vectors are not those that the index has")
        new_distinct = distinct if len(known) < len(chosen) else None
        return type(self)(index, self._kind, vectors, rows, new_distinct)

    def search(self, vectors: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return the `k` nearest neighbors of vectors (Q, E).

        Returns the cosines and the neighbors' positions in the index, both (Q, min(k, N)), the
        nearest first; equal cosines are in the order of their positions. The neighbors for a
        smaller `k` are the first of those for a larger one. If an inexact index finds fewer, the
        remaining positions are -1. Raises `ValueError` for vectors of another size or with a number
        that is not finite, and for a `k` below 1.
        """
        check_positive(k=k)
        table = _table(numpy.asarray(vectors, numpy.float32), self.vector_size)
        queries = _read(table, numpy.arange(len(table)))
        found = self._nearest_distinct(queries, int(k))
        return self._ranked(found, int(k))

    def _nearest_distinct(self, queries: FloatArray, k: int) -> list[list[_Distinct]]:
        """Return the nearest distinct vectors of each query, at least `k` if there are so many.

        Results do not change if more are requested: they must not depend on the number.
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
                _extend(found[query], near[:end], numbers[:end], _least_known(near, is_all))
                if not is_all and len(found[query]) < wanted:
                    still_unfinished.append(query)
            unfinished = still_unfinished
            count *= 4
        return found

    def _ranked(self, found: Sequence[Sequence[_Distinct]], k: int) -> tuple[FloatArray, IntArray]:
        """Return the cosines and positions of the `k` nearest vectors, from the distinct ones."""
        shape = (len(found), min(k, len(self)))
        cosines_found = numpy.full(shape, -numpy.inf, numpy.float32)
        positions_found = numpy.full(shape, -1, numpy.int64)
        for query, nearest in enumerate(found):
            # Each vector has one position, so that k vectors are enough.
            ranked = sorted(
                (distance, position)
                for distance, number in nearest[:k]
                for position in self._positions_of(number, k)
            )[:k]
            cosines_found[query, : len(ranked)] = [-distance for distance, _ in ranked]
            positions_found[query, : len(ranked)] = [position for _, position in ranked]
        return cosines_found, positions_found

    def _positions_of(self, number: int, limit: int) -> list[int]:
        """Return the first positions of a vector of the index."""
        if self._distinct is None:
            return [number]
        start, end = self._starts[number : number + 2].tolist()
        positions: list[int] = self._positions[start : min(end, start + limit)].tolist()
        return positions

    def _candidates(self, queries: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
        """Return cosines of some nearest vectors, the nearest first, and their numbers, -1 for
        none.
        """
        count = min(count * self._kind.refine_factor, self._index.ntotal)
        num_parts = len(queries) * count * self.vector_size // MAX_NUMBERS + 1
        parts = []
        for part in numpy.array_split(queries, num_parts):
            _, numbers, vectors = self._index.search_and_reconstruct(part, count)
            if self._kind.row.compressed and self._vectors is not None:
                # Each vector is read once, in the order of the file.
                read, places = numpy.unique(numbers, return_inverse=True)
                first = read if self._distinct is None else self._positions[self._starts[read]]
                rows = first if self._rows is None else self._rows[first]
                vectors = normalized(self._vectors[rows])[places.reshape(numbers.shape)]
            near = numpy.where(numbers < 0, -numpy.inf, cosines(vectors, part[:, None]))
            order = numpy.lexsort((numbers, -near))
            parts.append([numpy.take_along_axis(x, order, axis=1) for x in (near, numbers)])
        near, numbers = (numpy.concatenate(part) for part in zip(*parts))
        return near, numbers

    def vectors(self, positions: Union[Sequence[int], IntArray]) -> FloatArray:
        """Return the normalized vectors (len(positions), E) at some positions, as the index has
        them.
        """
        index = self._index
        has_lists = hasattr(index, "direct_map")
        if has_lists:  # 8 bytes for each vector, only while they are needed
            index.make_direct_map()
        try:
            numbers = numpy.asarray(positions, numpy.int64)
            numbers = numbers if self._distinct is None else self._distinct[numbers]
            found: FloatArray = index.reconstruct_batch(numbers)
        finally:
            if has_lists:
                index.set_direct_map_type(faiss_library().DirectMap.NoMap)
        return found

    def holds(self, vectors: FloatArray, positions: Union[Sequence[int], IntArray]) -> BoolArray:
        """Return whether the index has these vectors (P, E) at these positions (P).

        They may differ by rounding, by `TOLERANCE` at most.
        """
        expected = normalized(vectors)
        if self._kind.row.compressed:
            expected = self._index.sa_decode(self._index.sa_encode(expected))
        same = numpy.abs(self.vectors(positions) - expected) <= TOLERANCE
        # Rounding may change the code of a part of a vector; different vectors share few codes.
        agreement: BoolArray = same.mean(axis=1) >= (0.5 if self._kind.row.compressed else 1)
        return agreement

    def save(
        self,
        path: Union[str, "os.PathLike[str]"],
        sentences_digest: Optional[str] = None,
        replace: bool = False,
    ) -> None:
        """Write the index to a file, which FAISS's own tools read as well.

        The file must not exist unless it may be replaced. It also has the digest of the sentences
        of the vectors, if given; see `check_sentences`.
        """
        path = Path(os.path.realpath(path))  # a symbolic link stays one
        # A file with this name is always complete.
        partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
        try:
            faiss_library().write_index(self._index, os.fspath(partial))
            with open(partial, "a+b") as file:
                if self._distinct is not None:
                    file.write(self._distinct.astype("<i8").tobytes())
                    file.write(POSITIONS_MARK + b"%016d" % len(self._distinct))
                if sentences_digest is not None:
                    file.write(ending(sentences_digest))
                file.write(ending(content_digest(file)))
            if replace:
                os.replace(partial, path)
            else:
                os.link(partial, path)
        except FileExistsError:
            raise ValueError(f"{path} exists already; delete it or name another file") from None
        except RuntimeError as error:
            raise ValueError(f"{path} cannot be written: {error}") from error
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def load(
        cls,
        path: Union[str, "os.PathLike[str]"],
        kind: Optional[IndexKind] = None,
        vectors: Optional[FloatArray] = None,
        rows: Optional[Sequence[int]] = None,
        mapped: bool = True,
    ) -> "SentenceIndex":
        """Return the index in a file that `save` wrote, mapped into memory if FAISS can do that.

        An index that is not mapped can be extended. The file is first read once, for the digest at
        its end. The settings of `kind` for searching replace the saved ones; see the class for
        `vectors` and `rows`. Raises `ValueError` for any other file or kind of index.
        """
        faiss_library()  # if FAISS is missing, this error comes first
        file_kind = _kind_of_file(path)
        if kind is not None and kind.name != file_kind.name:
            raise ValueError(
                f"{path} is an index of kind {file_kind.name}, not {kind.name}; {_REMEDY}"
            )
        has_digest = _is_intact(path)
        # A file of an earlier version has no digest; it is not mapped, since FAISS crashes on
        # mapped files that end too early.
        flag = _read_flag(file_kind) if has_digest and mapped else 0
        try:
            index = _read_index(path, flag)
            distinct = _distinct(path)
            if distinct is not None and len(numpy.bincount(distinct)) != index.ntotal:
                raise RuntimeError(f"its positions do not have {index.ntotal} vectors")
            loaded = cls(index, kind or file_kind, vectors, rows, distinct)
            loaded._is_mapped = flag != 0
            sample = loaded.vectors(evenly(len(loaded), NUM_CHECKED))
        except (RuntimeError, MemoryError, ValueError, OSError) as error:
            raise ValueError(f"{_expected(path)}, or it is damaged: {error}; {_REMEDY}") from error
        if not _is_normalized(sample, file_kind):
            raise ValueError(f"{_expected(path)}: its vectors are not normalized")
        if kind is not None:
            kind.prepare_search(index)
        return loaded


_REMEDY = "name another file, to build the index there"


def _expected(path: Union[str, "os.PathLike[str]"]) -> str:
    return f"{path} is not an index that `search` wrote"


def _kind_of_file(path: Union[str, "os.PathLike[str]"]) -> IndexKind:
    """Return the kind of a saved index, by the first bytes of its file."""
    kinds = {row.magic: name for name, row in KINDS.items()}
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if magic not in kinds:
        raise ValueError(_expected(path))
    return IndexKind(kinds[magic])


def _is_intact(path: Union[str, "os.PathLike[str]"]) -> bool:
    """Return whether a file has a digest; raise `ValueError` if the digest is wrong."""
    if ending_digest(path) is None:
        logger.warning("%s has no digest of its content: nothing tells if it is damaged", path)
        return False
    if not is_whole(Path(path)):
        raise ValueError(f"{_expected(path)}, or it is damaged; {_REMEDY}")
    return True


def _read_flag(kind: IndexKind) -> int:
    """Return the flag by which FAISS maps a file; older releases lack it for some kinds."""
    return int(getattr(faiss_library(), kind.row.read_flag, 0))


def _read_index(path: Union[str, "os.PathLike[str]"], flag: int) -> Any:
    """Read FAISS's index from a file; a `RuntimeError` says why it is not one of this package's."""
    faiss = faiss_library()
    index = faiss.read_index(os.fspath(path), flag)
    if index.metric_type != faiss.METRIC_INNER_PRODUCT or index.d < 1:
        raise RuntimeError(f"it has a {type(index).__name__}")
    if hasattr(index, "invlists") and index.invlists.compute_ntotal() != index.ntotal:
        raise RuntimeError(f"its lists do not have {index.ntotal} vectors")
    return index


def _is_normalized(vectors: FloatArray, kind: IndexKind) -> bool:
    """Return whether vectors have the length 1 or 0 or, if they are compressed, a finite length."""
    with numpy.errstate(over="ignore", invalid="ignore"):  # infinite numbers are refused afterwards
        lengths = numpy.linalg.norm(vectors, axis=1)
    if kind.row.compressed:
        return bool(numpy.isfinite(lengths).all())
    return bool(((numpy.abs(lengths - 1) < TOLERANCE) | (lengths == 0)).all())


def _least_known(near: FloatArray, is_all: bool) -> float:
    """Return the cosine above which an index has left out no vector, given the nearest ones."""
    return -numpy.inf if is_all else float(near.min()) + ROUNDING


def _extend(found: list[_Distinct], near: FloatArray, numbers: IntArray, least: float) -> None:
    """Add the vectors after those that are found whose cosine is above the `least`.

    Ties with the last vector wait: the index may have missed one of them.
    """
    last = found[-1:]
    for cosine, number in zip(near.tolist(), numbers.tolist()):
        if number >= 0 and cosine > least and [(-cosine, number)] > last:
            found.append((-cosine, number))


def _distinct(path: Union[str, "os.PathLike[str]"]) -> Optional[IntArray]:
    """Return the vector number of each position in a file that has equal vectors."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        begin = file.seek(max(0, end - 2 * ENDING_LENGTH - len(POSITIONS_MARK) - 16))
        before, mark, after = file.read().rpartition(POSITIONS_MARK)
        length = int(after[:16]) if mark else 0
        file.seek(begin + len(before) - 8 * length)
        return numpy.fromfile(file, "<i8", length).astype(numpy.int64) if mark else None


def evenly(number: int, limit: int) -> IntArray:
    """Return at most `limit` of the positions from 0 to `number` - 1, with the first and the
    last.
    """
    return numpy.unique(numpy.linspace(0, number - 1, min(number, limit)).astype(numpy.int64))


def _table(vectors: Any, vector_size: Optional[int] = None) -> FloatArray:
    """Return vectors (N, E) as an array; memory maps stay as they are. `vector_size` is E, if
    given.
    """
    table: FloatArray = numpy.asanyarray(vectors)
    is_table = table.ndim == 2 and table.shape[1] > 0 and table.dtype.kind == "f"
    if not is_table or vector_size not in (None, table.shape[1]):
        raise ValueError(
            "expected vectors as a table of floating-point numbers (number, "
            f"{vector_size or 'size'}), got the shape {table.shape} of {table.dtype}"
        )
    return table


def _read(vectors: FloatArray, rows: IntArray) -> FloatArray:
    """Return some rows of the vectors, normalized; raise `ValueError` if they are not finite."""
    block = numpy.asarray(vectors[rows], dtype=numpy.float32)
    bad = ~numpy.isfinite(block).all(axis=1)
    if bad.any():
        raise ValueError(
            f"the vector in row {rows[bad.argmax()]} (counted from 0) has a component that is not "
            "a finite number"
        )
    return normalized(block)
