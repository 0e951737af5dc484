"""Tests of the kinds of indexes, against cosines computed in NumPy."""

import itertools
from pathlib import Path

import numpy
import pytest

from allennlp_sentmatch.corpora import IndexKind, SentenceIndex, sentence_index
from allennlp_sentmatch.corpora.index_kinds import default_kind
from allennlp_sentmatch.files.digests import MARK

faiss = pytest.importorskip("faiss")

SIZE = 12

EXHAUSTIVE = {
    "flat": {},
    "hnsw": {"m": 32, "ef_search": 600},
    "ivf": {"nlist": 9, "nprobe": 9},
    "ivfpq": {"nlist": 9, "nprobe": 9, "refine_factor": 600},
}
"""Settings with which each kind compares a query with all 600 vectors."""


@pytest.fixture(scope="module")
def vectors():
    """600 vectors around 40 centers, no two alike."""
    generator = numpy.random.default_rng(0)
    centers = generator.normal(size=(40, SIZE)) * 3
    return (centers[numpy.arange(600) % 40] + generator.normal(size=(600, SIZE))).astype("f4")


@pytest.fixture(scope="module")
def queries(vectors):
    return vectors[::50] + numpy.random.default_rng(1).normal(size=(12, SIZE)).astype("f4")


def exact(vectors, queries, k):
    """The largest cosines and their rows, in float64."""
    both = queries.astype("f8"), vectors.astype("f8")
    a, b = (x / numpy.linalg.norm(x, axis=1, keepdims=True) for x in both)
    cosines = a @ b.T
    rows = numpy.argsort(-cosines, axis=1)[:, :k]
    return numpy.take_along_axis(cosines, rows, axis=1), rows


@pytest.mark.parametrize("rows", [None, range(599, 99, -1)])
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_search_of_everything_is_exact(vectors, queries, monkeypatch, name, rows):
    """Chosen rows have their own positions."""
    monkeypatch.setattr(sentence_index, "BLOCK_SIZE", 100)
    index = SentenceIndex.build(vectors, rows, IndexKind(name, EXHAUSTIVE[name]))
    assert (len(index), index.vector_size) == (500 if rows else 600, SIZE)
    cosines, positions = index.search(queries, k=7)
    expected_cosines, expected = exact(vectors if rows is None else vectors[rows], queries, 7)
    numpy.testing.assert_array_equal(positions, expected)
    numpy.testing.assert_allclose(cosines, expected_cosines, atol=1e-6)


@pytest.fixture(scope="module")
def tied():
    """400 distinct vectors with three components of 1 or -1, every fourth again, and zeros."""
    signs = numpy.array(list(itertools.product((-1, 1), repeat=3)), "f4")
    places = list(itertools.combinations(range(8), 3))[:50]
    vectors = numpy.zeros((50, 8, 8), "f4")
    for number, place in enumerate(places):
        vectors[number][:, place] = signs
    vectors = numpy.random.default_rng(2).permutation(vectors.reshape(400, 8))
    return numpy.concatenate([vectors, 3 * vectors[::4], -0.0 * vectors[:7]])


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_ties_are_in_order_however_many_neighbors_are_wanted(tied, tmp_path, monkeypatch, name):
    """Report F12: FAISS orders ties in its own way, and chooses among ties with the last result."""
    queries = numpy.array([[2, 1, 1, 0, 0, 0, 0, 0], [1, -1, 0, 0, 0, 0, 0, 3]], "f4")
    monkeypatch.setattr(sentence_index, "BLOCK_SIZE", 90)
    # All lengths are equal, except the zero vectors'.
    expected = numpy.argsort(-(queries @ numpy.sign(tied).T), axis=1, kind="stable")
    index = SentenceIndex.build(tied, index_kind=IndexKind(name, EXHAUSTIVE[name]))
    index.save(tmp_path / "s.faiss")
    content = (tmp_path / "s.faiss").read_bytes()
    (tmp_path / "bare.faiss").write_bytes(without_digest(content))
    files = tmp_path / "s.faiss", tmp_path / "bare.faiss"
    for one in (index, *(SentenceIndex.load(file, index._kind, tied) for file in files)):
        for k in (1, 2, 3, 4, 10, 16, 17, 40, 100, 300, 507):
            cosines, positions = one.search(queries, k)
            numpy.testing.assert_array_equal(positions, expected[:, :k])
            assert (numpy.diff(cosines) <= 0).all()
            assert numpy.abs(cosines).max() <= 1


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("flat", {}),
        ("hnsw", {"m": 2, "ef_search": 3}),
        ("ivf", {"nlist": 20, "nprobe": 2}),
        ("ivfpq", {"nlist": 20, "nprobe": 9, "code_size": 2, "refine_factor": 1}),
    ],
)
def test_fewer_neighbors_are_the_beginning_of_more(vectors, queries, name, settings):
    """This also holds for an index that misses many, and finds others if asked for more."""
    index = SentenceIndex.build(vectors, index_kind=IndexKind(name, settings))
    cosines, positions = index.search(queries, 600)
    for k in (*range(1, 20), 63, 64, 65, 255, 256, 257):
        for few, many in zip(index.search(queries, k), (cosines, positions)):
            numpy.testing.assert_array_equal(few, many[:, :k])


def test_equal_vectors_in_an_index_that_finds_few():
    """`nprobe` lists have fewer vectors than are asked for, and FAISS fills up with -1."""
    vectors = numpy.random.default_rng(0).normal(size=(400, 8)).astype("f4")
    vectors[300:] = vectors[:100]
    kind = IndexKind("ivfpq", {"nlist": 8, "nprobe": 1, "code_size": 4})
    cosines, rows = SentenceIndex.build(vectors, index_kind=kind).search(vectors[:5], k=400)
    for query, found in enumerate(rows):
        found = found[found >= 0]
        assert 2 <= len(found) < 400
        assert found[:2].tolist() == [query, query + 300]
        unit = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
        numpy.testing.assert_allclose(
            cosines[query, : len(found)], unit[found] @ unit[query], atol=1e-5
        )


def test_equal_vectors_are_no_trap_in_a_graph():
    """Report F13."""
    vectors = numpy.random.default_rng(0).standard_normal((2000, 50)).astype("f4")
    equal = numpy.concatenate([numpy.ones((2000, 50), "f4"), vectors])
    index = SentenceIndex.build(equal, index_kind=IndexKind("hnsw"))
    positions = index.search(vectors[:300], 1)[1][:, 0]
    assert (positions == numpy.arange(2000, 2300)).mean() > 0.98
    cosines, positions = index.search(numpy.ones((1, 50), "f4"), 2001)
    numpy.testing.assert_array_equal(positions[0, :2000], numpy.arange(2000))
    assert (cosines[0, :2000] == 1).all()
    assert positions[0, 2000] >= 2000


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_the_default_settings_find_nearly_all(vectors, queries, name):
    index = SentenceIndex.build(vectors, index_kind=IndexKind(name))
    _, positions = index.search(queries, k=10)
    _, expected = exact(vectors, queries, 10)
    found = [len(set(a) & set(b)) for a, b in zip(positions.tolist(), expected.tolist())]
    assert numpy.mean(found) > 9


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_saved_index_is_extended(vectors, queries, tmp_path, monkeypatch, name):
    """Some of the new vectors are equal to earlier ones."""
    grown = numpy.concatenate([vectors, 2 * vectors[::7]])
    rows = [*range(0, 500, 2), *range(len(grown))]
    kind = IndexKind(name, EXHAUSTIVE[name])
    SentenceIndex.build(vectors, rows[:260], index_kind=kind).save(tmp_path / "s.faiss")
    loaded = SentenceIndex.load(tmp_path / "s.faiss", kind, vectors, rows[:260], mapped=False)
    monkeypatch.setattr(sentence_index, "BLOCK_SIZE", 50)
    index = loaded.extended(grown, rows)
    index.save(tmp_path / "s.faiss", replace=True)
    again = SentenceIndex.load(tmp_path / "s.faiss", kind, grown, rows)
    built = SentenceIndex.build(grown, rows, index_kind=kind)
    expected = built.search(queries, 30)
    for one in (index, again):
        assert len(one) == len(rows)
        for ours, theirs in zip(one.search(queries, 30), expected):
            numpy.testing.assert_allclose(ours, theirs, atol=1e-6)
    with pytest.raises(ValueError, match="load it with mapped=False"):
        again.extended(grown, rows)
    changed = grown.copy()
    changed[2] = changed[4]  # these were two vectors
    with pytest.raises(ValueError, match="the first vectors are not those that the index"):
        again.load(tmp_path / "s.faiss", kind, mapped=False).extended(changed, rows)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_saved_index_is_mapped_and_finds_the_same(vectors, queries, tmp_path, name):
    path = tmp_path / "s.faiss"
    index = SentenceIndex.build(vectors, index_kind=IndexKind(name, EXHAUSTIVE[name]))
    index.save(path)
    # FAISS saves the settings, except for `refine_factor`.
    for kind in [None, IndexKind(name, EXHAUSTIVE[name])][name == "ivfpq" :]:
        loaded = SentenceIndex.load(path, kind, vectors)
        for ours, theirs in zip(loaded.search(queries, 4), index.search(queries, 4)):
            numpy.testing.assert_allclose(ours, theirs, atol=1e-6)
    maps = Path("/proc/self/maps")
    if maps.exists():  # Linux
        assert str(path) in maps.read_text()
    positions = list(range(0, 600, 20))
    rounded = vectors[positions] * (1 + 1e-6 * numpy.sin(numpy.arange(SIZE, dtype="f4")))
    assert loaded.holds(vectors[positions], positions).all()
    assert loaded.holds(rounded, positions).all()
    assert not loaded.holds(vectors[positions], [position + 1 for position in positions]).any()


def without_digest(content):
    """A file of earlier versions, which only FAISS checks."""
    return content.partition(MARK)[0]


@pytest.mark.parametrize("name", ["ivf", "ivfpq"])
def test_numbers_of_vectors_that_do_not_exist_are_refused(vectors, tmp_path, name):
    path = tmp_path / "s.faiss"
    SentenceIndex.build(vectors, index_kind=IndexKind(name, {"nlist": 1})).save(path)
    content = without_digest(path.read_bytes())
    numbers = numpy.arange(600, dtype="i8")
    wrong = numpy.where(numbers == 300, 10**6, numbers)
    assert content.count(numbers.tobytes()) == 1
    # After four bytes for the kind, and four for the vectors' size.
    assert content[8:16] == (600).to_bytes(8, "little")
    for changed in (
        content.replace(numbers.tobytes(), wrong.tobytes()),
        content[:8] + (1 << 50).to_bytes(8, "little") + content[16:],
    ):
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"s\.faiss is not an index .* damaged"):
            SentenceIndex.load(path)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_any_damage_is_found(vectors, tmp_path, name):
    path = tmp_path / "s.faiss"
    SentenceIndex.build(vectors, index_kind=IndexKind(name)).save(path, "0" * 64)
    content = path.read_bytes()
    for position in numpy.linspace(0, len(content) - 1, 40).astype(int):
        changed = bytes([content[position] ^ 1])
        for damaged in (content[:position] + changed + content[position + 1 :], content[:position]):
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"s\.faiss is not an index"):
                SentenceIndex.load(path)


def test_settings_that_are_too_small_unknown_or_too_large():
    for name, setting, least in (("hnsw", "m", 2), ("ivf", "nprobe", 1), ("ivfpq", "code_size", 1)):
        kept = IndexKind(name, {setting: numpy.int64(least)}).settings[setting]
        assert (type(kept), kept) == (int, least)
        for value in (least - 1, 2.5):
            message = f"{setting} must be an integer of at least {least}.*; got {value}"
            with pytest.raises(ValueError, match=message):
                IndexKind(name, {setting: value})
    with pytest.raises(ValueError, match="hnsw: there is a superfluous setting 'nprobe'"):
        IndexKind("hnsw", {"nprobe": 3})
    for name in ("hsnw", "", ["hnsw"]):
        with pytest.raises(ValueError, match=r"\['flat', 'hnsw', 'ivf', 'ivfpq'\] as the"):
            IndexKind(name)
    with pytest.raises(ValueError, match="FAISS cannot make HNSW1000000000000: "):
        IndexKind("hnsw", {"m": 10**12}).create(6, 50)


@pytest.mark.parametrize(
    ("num_vectors", "name"),
    [(200_000, "flat"), (200_001, "hnsw"), (2_000_000, "hnsw"), (2_000_001, "ivfpq")],
)
def test_the_number_of_vectors_decides(num_vectors, name):
    assert default_kind(num_vectors).name == name


def test_the_settings_reach_the_graph(tmp_path):
    vectors = numpy.random.default_rng(0).normal(size=(50, 6)).astype("f4")
    built = SentenceIndex.build(
        vectors, index_kind=IndexKind("hnsw", {"m": 5, "ef_construction": 31, "ef_search": 17})
    )
    built.save(tmp_path / "s.faiss")
    saved = faiss.read_index(str(tmp_path / "s.faiss"))
    assert saved.hnsw.nb_neighbors(1) == 5
    assert (saved.hnsw.efConstruction, saved.hnsw.efSearch) == (31, 17)
    loaded = SentenceIndex.load(tmp_path / "s.faiss", IndexKind("hnsw", {"ef_search": 23}))
    assert loaded._index.hnsw.efSearch == 23


class TestOfInvertedLists:
    @pytest.fixture
    def vectors(self):
        """Three directions, 30 vectors near each."""
        centers = numpy.repeat(numpy.eye(3, 6, dtype="f4"), 30, axis=0)
        return centers + 0.1 * numpy.random.default_rng(0).normal(size=(90, 6)).astype("f4")

    def test_only_the_nearest_lists_are_searched(self, vectors, tmp_path):
        index = SentenceIndex.build(vectors, index_kind=IndexKind("ivf", {"nlist": 3, "nprobe": 1}))
        cosines, positions = index.search(vectors[:1], k=90)
        assert sorted(positions[0, :30]) == list(range(30))
        assert (positions[0, 30:] == -1).all()
        assert (cosines[0, :30] > 0.7).all()
        index.save(tmp_path / "s.faiss")
        _, found = SentenceIndex.load(tmp_path / "s.faiss").search(vectors[:1], 90)
        assert (found >= 0).sum() == 30
        loaded = SentenceIndex.load(tmp_path / "s.faiss", IndexKind("ivf", {"nprobe": 3}))
        assert sorted(loaded.search(vectors[:1], k=90)[1][0]) == list(range(90))

    @pytest.mark.parametrize(
        ("num_vectors", "num_lists"), [(1, 1), (100, 2), (24336, 624), (1_000_000, 4000)]
    )
    def test_the_default_number_of_lists(self, num_vectors, num_lists):
        assert IndexKind("ivf").create(4, num_vectors).nlist == num_lists

    def test_more_lists_than_vectors(self, vectors):
        with pytest.raises(ValueError, match=r"nlist must be at most .* is 90; got 91"):
            SentenceIndex.build(vectors, index_kind=IndexKind("ivf", {"nlist": 91}))
        with pytest.raises(ValueError, match=r"nlist must be at most .* is 0; got 1"):
            SentenceIndex.build(vectors[:0], index_kind=IndexKind("ivf"))

    def test_few_vectors_print_no_warning(self, vectors, capfd):
        SentenceIndex.build(vectors, index_kind=IndexKind("ivf", {"nlist": 10}))
        SentenceIndex.build(numpy.repeat(vectors, 3, axis=0)[:256], index_kind=IndexKind("ivfpq"))
        assert capfd.readouterr() == ("", "")


class TestOfCompressedVectors:
    @pytest.fixture
    def vectors(self):
        return numpy.random.default_rng(0).normal(size=(400, 6)).astype("f4")

    def test_cosines_are_exact_with_the_vectors_and_approximate_without(self, vectors, tmp_path):
        kind = IndexKind("ivfpq", {"nlist": 2, "nprobe": 2, "code_size": 2})
        rows = list(range(399, -1, -1))
        SentenceIndex.build(vectors, rows, index_kind=kind).save(tmp_path / "s.faiss")
        exact = SentenceIndex.load(tmp_path / "s.faiss", vectors=vectors, rows=rows)
        approximate = SentenceIndex.load(tmp_path / "s.faiss")
        for index, tolerance, is_close in ((exact, 1e-6, True), (approximate, 1e-3, False)):
            cosines, positions = index.search(vectors[:20], k=3)
            found = vectors[numpy.array(rows)[positions]]
            queries = vectors[:20, None]
            lengths = numpy.linalg.norm(found, axis=2) * numpy.linalg.norm(queries, axis=2)
            expected = (found * queries).sum(axis=2) / lengths
            assert (numpy.abs(cosines - expected).max() < tolerance) == is_close
            assert (numpy.diff(cosines, axis=1) <= 0).all()

    def test_fewer_candidates_than_neighbors(self, vectors):
        index = SentenceIndex.build(
            vectors, index_kind=IndexKind("ivfpq", {"nlist": 40, "nprobe": 1})
        )
        cosines, positions = index.search(vectors[:2], k=400)
        num_found = (positions >= 0).sum(axis=1)
        assert (num_found < 100).all()
        for row, number in enumerate(num_found):
            assert (positions[row, number:] == -1).all()
            assert (cosines[row, number:] == -numpy.inf).all()
            assert numpy.isfinite(cosines[row, :number]).all()

    @pytest.mark.parametrize("rows", [None, range(799, -1, -1)])
    def test_fewer_candidates_than_neighbors_among_equal_vectors(self, vectors, rows):
        """As many as there are, with the cosines of their own vectors."""
        twice = numpy.concatenate([vectors, vectors])
        kind = IndexKind("ivfpq", {"nlist": 40, "nprobe": 1})
        index = SentenceIndex.build(twice, rows, index_kind=kind)
        cosines, positions = index.search(vectors[:2], k=800)
        found = [near[near >= 0] for near in positions]
        given = twice if rows is None else twice[rows]
        for query, near, expected in zip(vectors, found, cosines):
            assert 2 <= len(near) < 200
            lengths = numpy.linalg.norm(given[near], axis=1) * numpy.linalg.norm(query)
            computed = given[near] @ query / lengths
            numpy.testing.assert_allclose(computed, expected[: len(near)], atol=1e-5)
            # Equal vectors are found together.
            assert sorted(near % 400)[::2] == sorted(near % 400)[1::2]

    @pytest.mark.parametrize(("vector_size", "parts"), [(6, 6), (300, 60), (384, 64), (1200, 75)])
    def test_the_default_code_size(self, vector_size, parts):
        codes = IndexKind("ivfpq").create(vector_size, 1000).pq
        assert codes.code_size == parts

    def test_what_does_not_suit_the_vectors(self, vectors):
        with pytest.raises(ValueError, match=r"code_size must divide .* is 6; got 4"):
            SentenceIndex.build(vectors, index_kind=IndexKind("ivfpq", {"code_size": 4}))
        with pytest.raises(ValueError, match=r"256 codes .* got 255; choose the kind flat"):
            SentenceIndex.build(vectors[:255], index_kind=IndexKind("ivfpq"))
        with pytest.raises(ValueError, match="vectors of size 1021 into equal parts of"):
            IndexKind("ivfpq").create(1021, 1000)
