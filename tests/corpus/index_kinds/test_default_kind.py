"""Tests of the kind that is chosen by default."""

import pytest

from allennlp_sentmatch.corpus.index_kinds import default_kind


@pytest.mark.parametrize(
    ("num_vectors", "name"),
    [
        (0, "flat"),
        (200_000, "flat"),
        (200_001, "hnsw"),
        (2_000_000, "hnsw"),
        (2_000_001, "ivfpq"),
    ],
)
def test_the_number_of_vectors_decides(num_vectors, name):
    assert default_kind(num_vectors).kind_name() == name
