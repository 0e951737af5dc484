"""Tests of the graph's settings."""

import numpy
import pytest

from allennlp_sentmatch.corpus import SentenceIndex
from allennlp_sentmatch.corpus.index_kinds import HnswKind

faiss = pytest.importorskip("faiss")


def test_the_settings_reach_the_graph(tmp_path):
    vectors = numpy.random.default_rng(0).normal(size=(50, 6)).astype("f4")
    built = SentenceIndex.build(vectors, kind=HnswKind(m=5, ef_construction=31, ef_search=17))
    built.save(tmp_path / "s.faiss")
    saved = faiss.read_index(str(tmp_path / "s.faiss"))
    assert saved.hnsw.nb_neighbors(1) == 5
    assert (saved.hnsw.efConstruction, saved.hnsw.efSearch) == (31, 17)
    loaded = SentenceIndex.load(tmp_path / "s.faiss", HnswKind(ef_search=23))
    assert loaded._index.hnsw.efSearch == 23
