"""Tests of inverted lists: their number, and how many of them are searched."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import SentenceIndex
from allennlp_sentmatch.corpus.index_kinds import IvfKind


@pytest.fixture(scope="module", autouse=True)
def _faiss():
    pytest.importorskip("faiss")


@pytest.fixture(scope="module")
def vectors():
    """Three directions, 30 vectors near each."""
    centers = numpy.repeat(numpy.eye(3, 6, dtype="f4"), 30, axis=0)
    return centers + 0.1 * numpy.random.default_rng(0).normal(size=(90, 6)).astype("f4")


def test_only_the_nearest_lists_are_searched(vectors, tmp_path):
    index = SentenceIndex.build(vectors, kind=IvfKind(nlist=3, nprobe=1))
    cosines, positions = index.search(vectors[:1], k=90)
    assert sorted(positions[0, :30]) == list(range(30))
    assert (positions[0, 30:] == -1).all()
    assert (cosines[0, :30] > 0.7).all()
    index.save(tmp_path / "s.faiss")
    assert (SentenceIndex.load(tmp_path / "s.faiss").search(vectors[:1], 90)[1] >= 0).sum() == 30
    loaded = SentenceIndex.load(tmp_path / "s.faiss", IvfKind(nprobe=3))
    assert sorted(loaded.search(vectors[:1], k=90)[1][0]) == list(range(90))


@pytest.mark.parametrize(
    ("num_vectors", "num_lists"), [(1, 1), (100, 2), (24336, 624), (1_000_000, 4000)]
)
def test_the_default_number_of_lists(num_vectors, num_lists):
    assert IvfKind().create(4, num_vectors).nlist == num_lists


def test_no_warning_is_printed(vectors, capfd):
    SentenceIndex.build(vectors, kind=IvfKind(nlist=10))
    assert capfd.readouterr() == ("", "")


def test_more_lists_than_vectors(vectors):
    with pytest.raises(ConfigurationError, match=r"nlist must be at most .* is 90; got 91"):
        SentenceIndex.build(vectors, kind=IvfKind(nlist=91))
    with pytest.raises(ConfigurationError, match=r"nlist must be at most .* is 0; got 1"):
        SentenceIndex.build(vectors[:0], kind=IvfKind())
