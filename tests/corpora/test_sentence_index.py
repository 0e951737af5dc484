"""Tests of the search for nearest neighbors; test_index_kinds.py compares them with NumPy's."""

import sys

import numpy
import pytest
import torch

from allennlp_sentmatch.corpora import SentenceIndex, sentence_index

faiss = pytest.importorskip("faiss")


@pytest.fixture
def vectors():
    return numpy.random.default_rng(0).normal(size=(23, 5)).astype("f4") * 3


def test_zero_vectors_have_the_cosine_zero(vectors, tmp_path):
    vectors[2] = 0
    index = SentenceIndex.build(vectors)
    cosines, rows = index.search(vectors[:4], k=23)
    assert cosines[0][rows[0] == 2] == 0
    assert (cosines[2] == 0).all()
    assert numpy.isfinite(cosines).all()
    index.save(tmp_path / "s.faiss")
    assert [path.name for path in tmp_path.iterdir()] == ["s.faiss"]
    loaded = SentenceIndex.load(tmp_path / "s.faiss").search(vectors[:4], k=23)
    numpy.testing.assert_array_equal(loaded, (cosines, rows))


def test_neither_huge_nor_tiny_vectors_lose_their_direction(vectors):
    index = SentenceIndex.build(vectors * numpy.float32(1e30))
    cosines, rows = index.search(vectors * numpy.float32(1e-30), k=1)
    assert rows[:, 0].tolist() == list(range(23))
    numpy.testing.assert_allclose(cosines, 1, atol=1e-6)


def test_no_more_neighbors_than_vectors(vectors):
    assert SentenceIndex.build(vectors[:3]).search(vectors, k=9)[1].shape == (23, 3)
    assert SentenceIndex.build(vectors[:0]).search(vectors, k=9)[1].shape == (23, 0)
    assert SentenceIndex.build(vectors).search(vectors[:0], k=9)[1].shape == (0, 9)


def test_tensors_and_lists_are_vectors(vectors):
    expected = SentenceIndex.build(vectors).search(vectors, k=numpy.int64(3))
    for given in (torch.from_numpy(vectors), vectors.tolist()):
        found = SentenceIndex.build(given).search(given, k=3)
        numpy.testing.assert_array_equal(found[1], expected[1])


def test_bad_input_is_named(vectors, monkeypatch):
    index = SentenceIndex.build(vectors)
    with pytest.raises(ValueError, match="at least 1; got 0"):
        index.search(vectors, k=0)
    with pytest.raises(ValueError, match=r"\(number, 5\), got the shape \(23, 4\)"):
        index.search(vectors[:, :4], k=1)
    with pytest.raises(ValueError, match=r"the shape \(5,\)"):
        SentenceIndex.build(vectors[0])
    with pytest.raises(ValueError, match="int64"):
        SentenceIndex.build(numpy.ones((2, 3), dtype="i8"))
    for size in (4, 6):
        with pytest.raises(ValueError, match=r"\(number, 5\), got the shape \(30, "):
            index.extended(numpy.ones((30, size), "f4"))
    vectors[9, 1] = numpy.nan
    with pytest.raises(ValueError, match=r"in row 9 \(counted from 0\) has"):
        index.search(vectors, k=1)
    monkeypatch.setattr(sentence_index, "BLOCK_SIZE", 2)
    with pytest.raises(ValueError, match=r"in row 9 \(counted from 0\) has"):
        SentenceIndex.build(vectors, rows=[3, 9, 4])


def test_files_that_cannot_be_written_or_read(vectors, tmp_path):
    index = SentenceIndex.build(vectors)
    (tmp_path / "s.faiss").write_text("mine")
    with pytest.raises(ValueError, match=r"s\.faiss exists already"):
        index.save(tmp_path / "s.faiss")
    assert (tmp_path / "s.faiss").read_text() == "mine"
    with pytest.raises(ValueError, match="cannot be written"):
        index.save(tmp_path / "none" / "s.faiss")
    with pytest.raises(ValueError, match="cannot be read"):
        SentenceIndex.load(tmp_path / "none" / "s.faiss")
    faiss.write_index(faiss.IndexFlatL2(5), str(tmp_path / "l2.faiss"))
    with pytest.raises(ValueError, match="is not an index that"):
        SentenceIndex.load(tmp_path / "l2.faiss")


def test_without_faiss_the_extra_is_named(vectors, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ValueError, match=r"\[search\]: pip install faiss-cpu"):
        SentenceIndex.build(vectors)


def test_an_index_is_not_extended_where_other_vectors_were_equal():
    x, y, z = numpy.eye(3, dtype=numpy.float32)
    more = SentenceIndex.build(numpy.stack([x, y, x])).extended(numpy.stack([x, y, x, z, y]))
    assert more.search(numpy.stack([y, z]), 2)[1].tolist() == [[1, 4], [3, 0]]
    with pytest.raises(ValueError, match="the first vectors are not those"):
        SentenceIndex.build(numpy.stack([x, y, x])).extended(numpy.stack([x, x, y, z]))
