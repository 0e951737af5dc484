"""The nearest rows of a table are those of all cosines, in any type and at any scale."""

import numpy
import pytest

from allennlp_sentmatch.corpora import vector_table
from allennlp_sentmatch.corpora.vector_arrays import as_array
from allennlp_sentmatch.corpora.vector_table import VectorTable


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(vector_table, "ROWS_TOGETHER", 7)


def nearest_by_definition(vectors, vector, k):
    """Return the rows and the cosines of the nearest vectors, in float64."""
    vectors = vectors.astype("float64")
    vector = vector.astype("float64")
    lengths = numpy.linalg.norm(vectors, axis=1) * numpy.linalg.norm(vector)
    lengths[lengths == 0] = 1
    cosines = vectors @ vector / lengths
    rows = numpy.argsort(-cosines, kind="stable")[:k]
    return rows.tolist(), cosines[rows].tolist()


def rows_of(found):
    return [row for row, _ in found]


def cosines_of(found):
    return [cosine for _, cosine in found]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
@pytest.mark.parametrize("k", [1, 5, 60, 99])
def test_the_nearest_are_those_of_all_cosines(dtype, k):
    random = numpy.random.default_rng(k)
    directions = random.standard_normal((60, 16))
    lengths = random.uniform(0.1, 9, (60, 1))
    vectors = (directions * lengths).astype(dtype)
    vectors[[3, 41]] = 0
    vector = random.standard_normal(16).astype("float32")
    found = VectorTable(vectors).nearest(vector, k)
    rows, cosines = nearest_by_definition(vectors, vector, k)
    assert rows_of(found) == rows
    assert cosines_of(found) == pytest.approx(cosines, abs=1e-6)


def test_vectors_of_any_length_are_compared():
    """Squares of 1e-25 and of 1e25 are 0 and infinite in float32."""
    directions = numpy.float32([[3, 4], [4, 3], [-3, -4], [0, 0], [4, 3], [1, 0]])
    lengths = numpy.float32([[1], [1e25], [1e-25], [1], [1e-42], [1]])
    found = VectorTable(directions * lengths).nearest(numpy.float32([4e30, 3e30]), k=2)
    assert rows_of(found) == [1, 4]
    assert cosines_of(found) == pytest.approx([1, 1], abs=1e-3)  # 1e-42 has no exact float32


def test_zero_vectors_have_the_cosine_0():
    vectors = numpy.zeros((9, 2), "float32")
    vectors[5] = [3, 4]
    found = VectorTable(vectors).nearest(numpy.float32([3, 4]), k=2)
    assert found == [(5, 1), (0, 0)]


def test_equal_vectors_have_equal_cosines_and_come_in_their_order():
    vectors = numpy.random.default_rng(0).standard_normal((4, 384)).astype("float32")
    table = VectorTable(vectors[[0, 1, 2, 3] * 12])
    found = table.nearest(vectors[2] + vectors[0], k=30)
    copies_of_0 = list(range(0, 48, 4))
    copies_of_2 = list(range(2, 48, 4))
    assert rows_of(found)[:12] in (copies_of_0, copies_of_2)
    assert len(set(cosines_of(found))) == 3


def test_a_table_is_neither_copied_nor_changed(tmp_path):
    vectors = numpy.random.default_rng(0).standard_normal((20, 4)).astype("float32")
    numpy.save(tmp_path / "vectors.npy", vectors)
    mapped = numpy.load(tmp_path / "vectors.npy", mmap_mode="r")
    for given in (vectors, mapped):
        table = VectorTable(given)
        assert table._vectors is given
        table.nearest(vectors[0], 3)
    numpy.testing.assert_array_equal(vectors, numpy.load(tmp_path / "vectors.npy"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_masked_numbers_are_missing(dtype):
    vectors = numpy.ma.array(numpy.ones((3, 2), dtype), mask=[[0, 0], [0, 1], [0, 0]])
    with pytest.raises(ValueError, match="the vector in row 1 has a component that is not a fin"):
        VectorTable(as_array(vectors, "vectors"))


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf, -numpy.inf, 1e39])
def test_what_is_not_finite_in_float32_is_refused_with_its_row(value):
    vectors = numpy.ones((20, 2))
    vectors[9, 1] = value
    with pytest.raises(ValueError, match="the vector in row 9 has a component that is not a fin"):
        VectorTable(vectors)
