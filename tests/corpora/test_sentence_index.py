"""Tests of the search for nearest neighbors; test_index_kinds.py compares them with NumPy's."""

import errno
import os
import sys

import numpy
import pytest
import torch

from allennlp_sentmatch.corpora import SentenceIndex, distinct_vectors

faiss = pytest.importorskip("faiss")


@pytest.fixture
def vectors():
    return numpy.random.default_rng(0).normal(size=(23, 5)).astype("f4") * 3


@pytest.fixture
def with_zeros(vectors):
    vectors[2] = 0
    return vectors


def test_zero_vectors_have_the_cosine_zero(with_zeros):
    cosines, rows = SentenceIndex.build(with_zeros).search(with_zeros[:4], k=23)
    assert cosines[0][rows[0] == 2] == 0
    assert (cosines[2] == 0).all()
    assert numpy.isfinite(cosines).all()


def test_a_saved_index_finds_the_same(with_zeros, tmp_path):
    path = tmp_path / "s.faiss"
    index = SentenceIndex.build(with_zeros)
    index.save(path)
    assert list(tmp_path.iterdir()) == [path]
    found = SentenceIndex.load(path).search(with_zeros[:4], k=23)
    numpy.testing.assert_array_equal(found, index.search(with_zeros[:4], k=23))


def test_neither_huge_nor_tiny_vectors_lose_their_direction(vectors):
    index = SentenceIndex.build(vectors * numpy.float32(1e30))
    cosines, rows = index.search(vectors * numpy.float32(1e-30), k=1)
    assert rows[:, 0].tolist() == list(range(23))
    numpy.testing.assert_allclose(cosines, 1, atol=1e-6)


def test_no_more_neighbors_than_vectors(vectors):
    for num_vectors, num_queries, num_neighbors in ((3, 23, 3), (0, 23, 0), (23, 0, 9)):
        index = SentenceIndex.build(vectors[:num_vectors])
        _, rows = index.search(vectors[:num_queries], k=9)
        assert rows.shape == (num_queries, num_neighbors)


def test_tensors_and_lists_are_vectors(vectors):
    _, expected = SentenceIndex.build(vectors).search(vectors, k=numpy.int64(3))
    for given in (torch.from_numpy(vectors), vectors.tolist()):
        _, rows = SentenceIndex.build(given).search(given, k=3)
        numpy.testing.assert_array_equal(rows, expected)


def test_vectors_of_another_shape_or_type_are_refused(vectors):
    with pytest.raises(ValueError, match=r"the shape \(5,\)"):
        SentenceIndex.build(vectors[0])
    with pytest.raises(ValueError, match="int64"):
        SentenceIndex.build(numpy.ones((2, 3), dtype="i8"))
    index = SentenceIndex.build(vectors)
    with pytest.raises(ValueError, match=r"\(number, 5\), got the shape \(23, 4\)"):
        index.search(vectors[:, :4], k=1)
    for size in (4, 6):
        with pytest.raises(ValueError, match=r"\(number, 5\), got the shape \(30, "):
            index.extended(numpy.ones((30, size), "f4"))


def test_zero_neighbors_are_refused(vectors):
    with pytest.raises(ValueError, match="at least 1; got 0"):
        SentenceIndex.build(vectors).search(vectors, k=0)


def test_a_number_that_is_not_finite_is_named_by_its_row(vectors, monkeypatch):
    index = SentenceIndex.build(vectors)
    vectors[9, 1] = numpy.nan
    with pytest.raises(ValueError, match=r"in row 9 \(counted from 0\) has"):
        index.search(vectors, k=1)
    monkeypatch.setattr(distinct_vectors, "BLOCK_SIZE", 2)
    with pytest.raises(ValueError, match=r"in row 9 \(counted from 0\) has"):
        SentenceIndex.build(vectors, rows=[3, 9, 4])


def test_files_that_cannot_be_written(vectors, tmp_path):
    index = SentenceIndex.build(vectors)
    (tmp_path / "s.faiss").write_text("mine")
    with pytest.raises(ValueError, match=r"s\.faiss exists already"):
        index.save(tmp_path / "s.faiss")
    assert (tmp_path / "s.faiss").read_text() == "mine"
    with pytest.raises(ValueError, match="cannot be written"):
        index.save(tmp_path / "none" / "s.faiss")


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_system_without_hard_links(vectors, tmp_path, monkeypatch, replace):
    """Such as FAT, and a drive that is mounted in a notebook."""

    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    index = SentenceIndex.build(vectors)
    index.save(tmp_path / "s.faiss", replace=replace)
    assert [path.name for path in tmp_path.iterdir()] == ["s.faiss"]
    _, positions = SentenceIndex.load(tmp_path / "s.faiss").search(vectors[:1], k=1)
    assert positions.tolist() == [[0]]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        SentenceIndex.load(tmp_path / "none" / "s.faiss")
    faiss.write_index(faiss.IndexFlatL2(5), str(tmp_path / "l2.faiss"))
    with pytest.raises(ValueError, match="is not an index that"):
        SentenceIndex.load(tmp_path / "l2.faiss")


def stacked(*vectors):
    return numpy.stack(vectors)


def test_an_index_with_equal_vectors_is_extended():
    x, y, z = numpy.eye(3, dtype=numpy.float32)
    index = SentenceIndex.build(stacked(x, y, x)).extended(stacked(x, y, x, z, y))
    _, found = index.search(stacked(y, z), 2)
    assert found.tolist() == [[1, 4], [3, 0]]


def test_an_index_is_not_extended_if_other_vectors_were_equal():
    x, y, z = numpy.eye(3, dtype=numpy.float32)
    index = SentenceIndex.build(stacked(x, y, x))
    with pytest.raises(ValueError, match="the first vectors are not those"):
        index.extended(stacked(x, x, y, z))


def test_an_index_whose_extension_fails_halfway_is_not_used(monkeypatch, tmp_path):
    """It would return positions that none of its vectors has."""
    monkeypatch.setattr(distinct_vectors, "BLOCK_SIZE", 2)
    x, y, z = numpy.eye(3, dtype="f4")
    index = SentenceIndex.build(stacked(x, y))
    with pytest.raises(ValueError, match="row 4"):
        index.extended(stacked(x, y, z, x, z * numpy.nan))
    for use in (lambda: index.search(stacked(z), 1), lambda: index.save(tmp_path / "i.faiss")):
        with pytest.raises(ValueError, match="this index has been extended: use the one that"):
            use()


def test_an_index_is_not_extended_by_the_vectors_of_another_corpus(vectors):
    index = SentenceIndex.build(vectors)
    for changed in (vectors[::-1], numpy.concatenate([vectors[1:], vectors])):
        with pytest.raises(ValueError, match="the first vectors are not those"):
            index.extended(changed)
    assert len(index.extended(numpy.concatenate([vectors, -vectors]))) == 2 * len(vectors)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (numpy.arange(23) % 2 == 0, r"integers of at least 0; a mask becomes one by numpy\.flatn"),
        ([True] * 23, "rows must be a list of integers"),
        ([0.0, 1.0], "rows must be a list of integers"),
        ([[1, 2], [3, 4]], "rows must be a list of integers"),
        ([3, -1], "rows must be a list of integers of at least 0"),
        (numpy.array([3, -1]).astype("u8"), "rows must be a list of integers of at least 0"),
        ([3, 23], "there are 23 vectors, and no row 23"),
    ],
)
def test_rows_and_positions_that_do_not_exist_are_refused(vectors, rows, message):
    index = SentenceIndex.build(vectors)
    for use in (lambda: SentenceIndex.build(vectors, rows=rows), lambda: index.vectors(rows)):
        with pytest.raises(ValueError, match=message):
            use()


def test_masked_numbers_are_missing(vectors):
    masked = numpy.ma.array(vectors, mask=False)
    masked[2, 1] = numpy.ma.masked
    index = SentenceIndex.build(vectors)
    for use in (SentenceIndex.build, index.extended, lambda given: index.search(given, k=1)):
        with pytest.raises(ValueError, match=r"vector in row 2 .* is not a finite number"):
            use(masked)


def test_masked_rows_are_refused(vectors):
    rows = numpy.ma.array([0, 1, 2], mask=[False, True, False])
    with pytest.raises(ValueError, match="rows must be a list of integers"):
        SentenceIndex.build(vectors, rows=rows)


@pytest.mark.parametrize("kind", ["hnsw", {"type": "hnsw"}])
def test_the_name_of_a_kind_is_refused(vectors, tmp_path, kind):
    SentenceIndex.build(vectors).save(tmp_path / "s.faiss")
    with pytest.raises(TypeError, match=r'must be an IndexKind, such as IndexKind\("hnsw"\)'):
        SentenceIndex.build(vectors, index_kind=kind)
    with pytest.raises(TypeError, match=r'must be an IndexKind, such as IndexKind\("hnsw"\)'):
        SentenceIndex.load(tmp_path / "s.faiss", kind)


def test_without_faiss_the_extra_is_named(vectors, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ValueError, match=r"\[search\]: pip install faiss-cpu"):
        SentenceIndex.build(vectors)
