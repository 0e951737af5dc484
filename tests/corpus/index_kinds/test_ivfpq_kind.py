"""Tests of compressed vectors, whose candidates are compared by the vectors themselves."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import SentenceIndex
from allennlp_sentmatch.corpus.index_kinds import IvfPqKind


@pytest.fixture(scope="module", autouse=True)
def _faiss():
    pytest.importorskip("faiss")


@pytest.fixture(scope="module")
def vectors():
    return numpy.random.default_rng(0).normal(size=(400, 6)).astype("f4")


def test_cosines_are_exact_with_the_vectors_and_approximate_without(vectors, tmp_path):
    kind = IvfPqKind(nlist=2, nprobe=2, code_size=2)
    rows = list(range(399, -1, -1))
    SentenceIndex.build(vectors, rows, kind=kind).save(tmp_path / "s.faiss")
    exact = SentenceIndex.load(tmp_path / "s.faiss", vectors=vectors, rows=rows)
    approximate = SentenceIndex.load(tmp_path / "s.faiss")
    for index, tolerance, is_close in ((exact, 1e-6, True), (approximate, 1e-3, False)):
        cosines, positions = index.search(vectors[:20], k=3)
        found = vectors[numpy.array(rows)[positions]]
        lengths = numpy.linalg.norm(found, axis=2) * numpy.linalg.norm(vectors[:20, None], axis=2)
        expected = (found * vectors[:20, None]).sum(axis=2) / lengths
        assert (numpy.abs(cosines - expected).max() < tolerance) == is_close
        assert (numpy.diff(cosines, axis=1) <= 0).all()


def test_more_candidates_find_more(vectors):
    queries = numpy.random.default_rng(1).normal(size=(50, 6)).astype("f4")
    _, expected = SentenceIndex.build(vectors).search(queries, k=5)
    shares = []
    for refine_factor in (1, 8, 80):
        kind = IvfPqKind(nlist=2, nprobe=2, code_size=1, refine_factor=refine_factor)
        _, found = SentenceIndex.build(vectors, kind=kind).search(queries, k=5)
        shares.append(numpy.mean([len(set(a) & set(b)) / 5 for a, b in zip(found, expected)]))
    assert shares[0] + 0.2 < shares[1] < shares[2] == 1


def test_fewer_candidates_than_neighbors(vectors):
    index = SentenceIndex.build(vectors, kind=IvfPqKind(nlist=40, nprobe=1))
    cosines, positions = index.search(vectors[:2], k=400)
    num_found = (positions >= 0).sum(axis=1)
    assert (num_found < 100).all()
    for row, number in enumerate(num_found):
        assert (positions[row, number:] == -1).all()
        assert (cosines[row, number:] == -numpy.inf).all()
        assert numpy.isfinite(cosines[row, :number]).all()


@pytest.mark.parametrize(("vector_size", "parts"), [(6, 6), (300, 60), (384, 64), (1200, 75)])
def test_the_default_code_size(vector_size, parts):
    codes = IvfPqKind().create(vector_size, 1000).pq
    assert codes.code_size == parts


def test_what_does_not_suit_the_vectors(vectors, capfd):
    with pytest.raises(ConfigurationError, match=r"code_size must divide .* is 6; got 4"):
        SentenceIndex.build(vectors, kind=IvfPqKind(code_size=4))
    with pytest.raises(ConfigurationError, match=r"256 codes .* got 255; choose the kind flat"):
        SentenceIndex.build(vectors[:255], kind=IvfPqKind())
    with pytest.raises(
        ConfigurationError, match="vectors of size 1021 into equal parts of at most"
    ):
        IvfPqKind().create(1021, 1000)
    SentenceIndex.build(vectors[:256], kind=IvfPqKind())
    assert capfd.readouterr() == ("", "")
