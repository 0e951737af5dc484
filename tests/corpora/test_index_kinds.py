"""Tests of the kinds of indexes, against cosines computed in NumPy."""

import itertools
import pickle
from pathlib import Path

import numpy
import pytest

from allennlp_sentmatch.corpora import IndexKind, SentenceIndex, distinct_vectors
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
    """Return 600 vectors around 40 centers, no two alike."""
    generator = numpy.random.default_rng(0)
    centers = generator.normal(size=(40, SIZE)) * 3
    distances = generator.normal(size=(600, SIZE))
    nearest = centers[numpy.arange(600) % 40]
    return (nearest + distances).astype("f4")


@pytest.fixture(scope="module")
def queries(vectors):
    distances = numpy.random.default_rng(1).normal(size=(12, SIZE))
    return vectors[::50] + distances.astype("f4")


def unit_length(vectors):
    """Return the vectors with length 1, in float64."""
    vectors = vectors.astype("f8")
    return vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)


def exact(vectors, queries, k):
    """Return the largest cosines and their rows, in float64."""
    cosines = unit_length(queries) @ unit_length(vectors).T
    rows = numpy.argsort(-cosines, axis=1)[:, :k]
    return numpy.take_along_axis(cosines, rows, axis=1), rows


def build(vectors, name, rows=None, **settings):
    """Return an index of a kind with these settings."""
    return SentenceIndex.build(vectors, rows, index_kind=IndexKind(name, settings))


def assert_alike(found, expected):
    """The cosines and the positions are equal, up to rounding of the cosines."""
    cosines, positions = found
    expected_cosines, expected_positions = expected
    numpy.testing.assert_array_equal(positions, expected_positions)
    numpy.testing.assert_allclose(cosines, expected_cosines, atol=1e-6)


@pytest.mark.parametrize("rows", [None, range(599, 99, -1)])
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_search_of_everything_is_exact(vectors, queries, monkeypatch, name, rows):
    """Chosen rows have their own positions."""
    monkeypatch.setattr(distinct_vectors, "BLOCK_SIZE", 100)
    chosen = vectors if rows is None else vectors[rows]
    index = SentenceIndex.build(vectors, rows, IndexKind(name, EXHAUSTIVE[name]))
    assert len(index) == len(chosen)
    assert index.vector_size == SIZE
    assert_alike(index.search(queries, k=7), exact(chosen, queries, 7))


@pytest.fixture(scope="module")
def tied():
    """Return 400 distinct vectors with three components of 1 or -1, every fourth again, and zeros.

    All lengths are equal or a multiple, except the zero vectors'.
    """
    signs = numpy.array(list(itertools.product((-1, 1), repeat=3)), "f4")
    places = list(itertools.combinations(range(8), 3))[:50]
    vectors = numpy.zeros((50, 8, 8), "f4")
    for number, place in enumerate(places):
        vectors[number][:, place] = signs
    vectors = numpy.random.default_rng(2).permutation(vectors.reshape(400, 8))
    return numpy.concatenate([vectors, 3 * vectors[::4], -0.0 * vectors[:7]])


@pytest.fixture(scope="module")
def queries_of_ties():
    queries = [
        [2, 1, 1, 0, 0, 0, 0, 0],
        [1, -1, 0, 0, 0, 0, 0, 3],
    ]
    return numpy.array(queries, "f4")


def assert_ties_are_in_order(index, tied, queries):
    """The places of many equal cosines are ascending, whichever number of them is wanted."""
    cosines = queries @ numpy.sign(tied).T
    expected = numpy.argsort(-cosines, axis=1, kind="stable")
    for k in (1, 2, 3, 4, 10, 16, 17, 40, 100, 300, 507):
        cosines, positions = index.search(queries, k)
        numpy.testing.assert_array_equal(positions, expected[:, :k])
        assert (numpy.diff(cosines) <= 0).all()
        assert numpy.abs(cosines).max() <= 1


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_ties_are_in_order(tied, queries_of_ties, tmp_path, monkeypatch, name):
    """Report F12: FAISS orders ties in its own way, and chooses among ties with the last result."""
    monkeypatch.setattr(distinct_vectors, "BLOCK_SIZE", 90)
    kind = IndexKind(name, EXHAUSTIVE[name])
    index = SentenceIndex.build(tied, index_kind=kind)
    assert_ties_are_in_order(index, tied, queries_of_ties)
    index.save(tmp_path / "s.faiss")
    loaded = SentenceIndex.load(tmp_path / "s.faiss", kind, tied)
    assert_ties_are_in_order(loaded, tied, queries_of_ties)
    content = (tmp_path / "s.faiss").read_bytes()
    (tmp_path / "bare.faiss").write_bytes(without_digest(content))
    of_earlier_versions = SentenceIndex.load(tmp_path / "bare.faiss", kind, tied)
    assert_ties_are_in_order(of_earlier_versions, tied, queries_of_ties)


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
    index = build(vectors, name, **settings)
    all_cosines, all_positions = index.search(queries, 600)
    for k in (*range(1, 20), 63, 64, 65, 255, 256, 257):
        cosines, positions = index.search(queries, k)
        numpy.testing.assert_array_equal(cosines, all_cosines[:, :k])
        numpy.testing.assert_array_equal(positions, all_positions[:, :k])


def test_equal_vectors_in_an_index_that_finds_few():
    """`nprobe` lists have fewer vectors than are asked for, and FAISS fills up with -1."""
    vectors = numpy.random.default_rng(0).normal(size=(400, 8)).astype("f4")
    vectors[300:] = vectors[:100]
    unit = unit_length(vectors)
    index = build(vectors, "ivfpq", nlist=8, nprobe=1, code_size=4)
    cosines, rows = index.search(vectors[:5], k=400)
    for query, near in enumerate(rows):
        found = near[near >= 0]
        assert 2 <= len(found) < 400
        assert found[:2].tolist() == [query, query + 300]
        expected = unit[found] @ unit[query]
        numpy.testing.assert_allclose(cosines[query, : len(found)], expected, atol=1e-5)


def test_equal_vectors_are_no_trap_in_a_graph():
    """Report F13."""
    vectors = numpy.random.default_rng(0).standard_normal((2000, 50)).astype("f4")
    ones = numpy.ones((2000, 50), "f4")
    index = build(numpy.concatenate([ones, vectors]), "hnsw")
    _, positions = index.search(vectors[:300], 1)
    is_itself = positions[:, 0] == numpy.arange(2000, 2300)
    assert is_itself.mean() > 0.98
    cosines, positions = index.search(ones[:1], 2001)
    numpy.testing.assert_array_equal(positions[0, :2000], numpy.arange(2000))
    assert (cosines[0, :2000] == 1).all()
    assert positions[0, 2000] >= 2000


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_the_default_settings_find_nearly_all(vectors, queries, name):
    _, positions = build(vectors, name).search(queries, k=10)
    _, expected = exact(vectors, queries, 10)
    num_found = [len(numpy.intersect1d(*pair)) for pair in zip(positions, expected)]
    assert numpy.mean(num_found) > 9


@pytest.fixture(scope="module")
def grown(vectors):
    """Return the vectors and more, some of which are equal to earlier ones."""
    return numpy.concatenate([vectors, 2 * vectors[::7]])


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_saved_index_is_extended(vectors, grown, queries, tmp_path, monkeypatch, name):
    rows = [*range(0, 500, 2), *range(len(grown))]
    first = rows[:260]
    kind = IndexKind(name, EXHAUSTIVE[name])
    SentenceIndex.build(vectors, first, index_kind=kind).save(tmp_path / "s.faiss")
    loaded = SentenceIndex.load(tmp_path / "s.faiss", kind, vectors, first, mapped=False)
    monkeypatch.setattr(distinct_vectors, "BLOCK_SIZE", 50)
    extended = loaded.extended(grown, rows)
    extended.save(tmp_path / "s.faiss", replace=True)
    again = SentenceIndex.load(tmp_path / "s.faiss", kind, grown, rows)
    built = SentenceIndex.build(grown, rows, index_kind=kind)
    expected = built.search(queries, 30)
    for index in (extended, again):
        assert len(index) == len(rows)
        assert_alike(index.search(queries, 30), expected)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_mapped_index_is_not_extended(vectors, grown, tmp_path, name):
    build(vectors, name, **EXHAUSTIVE[name]).save(tmp_path / "s.faiss")
    mapped = SentenceIndex.load(tmp_path / "s.faiss", vectors=vectors)
    with pytest.raises(ValueError, match="load it with mapped=False"):
        mapped.extended(grown)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_an_index_is_not_extended_by_other_vectors(grown, tmp_path, name):
    build(grown, name, **EXHAUSTIVE[name]).save(tmp_path / "s.faiss")
    loaded = SentenceIndex.load(tmp_path / "s.faiss", mapped=False)
    changed = numpy.concatenate([grown, grown[:1]])
    changed[2] = changed[4]  # these were two vectors
    with pytest.raises(ValueError, match="the first vectors are not those that the index"):
        loaded.extended(changed)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_saved_index_is_mapped_and_copies_find_the_same(vectors, queries, tmp_path, name):
    path = tmp_path / "s.faiss"
    kind = IndexKind(name, EXHAUSTIVE[name])
    index = SentenceIndex.build(vectors, index_kind=kind)
    index.save(path)
    loaded = SentenceIndex.load(path, kind, vectors)
    expected = index.search(queries, 4)
    assert_alike(loaded.search(queries, 4), expected)
    loaded.save(tmp_path / "again.faiss")
    for copied in (
        SentenceIndex.load(tmp_path / "again.faiss", kind, vectors),
        pickle.loads(pickle.dumps(loaded)),
    ):
        assert_alike(copied.search(queries, 4), expected)
    maps = Path("/proc/self/maps")
    if maps.exists():  # Linux
        assert str(path) in maps.read_text()


@pytest.mark.parametrize("name", ["flat", "hnsw", "ivf"])
def test_an_index_is_saved_with_its_settings(vectors, queries, tmp_path, name):
    """FAISS saves the settings, except for `refine_factor` of ivfpq."""
    index = build(vectors, name, **EXHAUSTIVE[name])
    index.save(tmp_path / "s.faiss")
    loaded = SentenceIndex.load(tmp_path / "s.faiss", vectors=vectors)
    assert_alike(loaded.search(queries, 4), index.search(queries, 4))


def test_the_vectors_of_a_loaded_index_are_checked(vectors, queries, tmp_path):
    build(vectors, "ivfpq", **EXHAUSTIVE["ivfpq"]).save(tmp_path / "s.faiss")
    with pytest.raises(ValueError, match=f"expected vectors as a table .* {SIZE}\\)"):
        SentenceIndex.load(tmp_path / "s.faiss", vectors=vectors[:, 1:])
    masked = numpy.ma.array(vectors, mask=True)
    with pytest.raises(ValueError, match="has a component that is not a finite number"):
        SentenceIndex.load(tmp_path / "s.faiss", vectors=masked).search(queries, 1)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_an_index_is_not_loaded_with_other_vectors(vectors, tmp_path, name):
    """ivfpq would compare its candidates by them."""
    path = tmp_path / "s.faiss"
    build(vectors, name, **EXHAUSTIVE[name]).save(path)
    exchanged = numpy.concatenate([vectors[:1], vectors[:0:-1]])
    with pytest.raises(ValueError, match=r"the vector in row 1 .* not the one in .*s\.faiss; name"):
        SentenceIndex.load(path, vectors=exchanged)
    with pytest.raises(ValueError, match=r"the vector in row 7 .* not the one in .*s\.faiss; name"):
        SentenceIndex.load(path, vectors=vectors, rows=[7, *range(1, 600)])
    with pytest.raises(ValueError, match=r"s\.faiss has 600 vectors, but only 599 were given"):
        SentenceIndex.load(path, vectors=vectors[1:])


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_an_index_knows_which_vectors_it_holds(vectors, tmp_path, name):
    build(vectors, name, **EXHAUSTIVE[name]).save(tmp_path / "s.faiss")
    index = SentenceIndex.load(tmp_path / "s.faiss", vectors=vectors)
    positions = numpy.arange(0, 600, 20)
    own = vectors[positions]
    errors = 1e-6 * numpy.sin(numpy.arange(SIZE, dtype="f4"))
    assert index.holds(own, positions.tolist()).all()
    assert index.holds(own * (1 + errors), positions.tolist()).all()
    assert not index.holds(own, (positions + 1).tolist()).any()


def without_digest(content):
    """Return a file of earlier versions, which only FAISS checks."""
    return content.partition(MARK)[0]


@pytest.fixture
def content_of_lists(vectors, tmp_path, request):
    """Return the file of an index of one list, without its digest."""
    build(vectors, request.param, nlist=1).save(tmp_path / "s.faiss")
    return without_digest((tmp_path / "s.faiss").read_bytes())


INVERTED = pytest.mark.parametrize("content_of_lists", ["ivf", "ivfpq"], indirect=True)


@INVERTED
def test_a_number_of_a_vector_that_does_not_exist_is_refused(content_of_lists, tmp_path):
    numbers = numpy.arange(600, dtype="i8")
    wrong = numbers.copy()
    wrong[300] = 10**6
    assert content_of_lists.count(numbers.tobytes()) == 1
    changed = content_of_lists.replace(numbers.tobytes(), wrong.tobytes())
    (tmp_path / "s.faiss").write_bytes(changed)
    with pytest.raises(ValueError, match=r"s\.faiss is not an index .* damaged"):
        SentenceIndex.load(tmp_path / "s.faiss")


@INVERTED
def test_a_wrong_count_of_vectors_is_refused(content_of_lists, tmp_path):
    """The count follows four bytes for the kind, and four for the vectors' size."""
    assert content_of_lists[8:16] == (600).to_bytes(8, "little")
    wrong = (1 << 50).to_bytes(8, "little")
    (tmp_path / "s.faiss").write_bytes(content_of_lists[:8] + wrong + content_of_lists[16:])
    with pytest.raises(ValueError, match=r"s\.faiss is not an index .* damaged"):
        SentenceIndex.load(tmp_path / "s.faiss")


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_any_damage_is_found(vectors, tmp_path, name):
    path = tmp_path / "s.faiss"
    build(vectors, name).save(path, "0" * 64)
    content = path.read_bytes()
    for position in numpy.linspace(0, len(content) - 1, 40).astype(int):
        shortened = content[:position]
        flipped = bytes([content[position] ^ 1])
        changed = shortened + flipped + content[position + 1 :]
        for damaged in (changed, shortened):
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"s\.faiss is not an index"):
                SentenceIndex.load(path)


@pytest.mark.parametrize(
    ("name", "setting", "least"),
    [
        ("hnsw", "m", 2),
        ("ivf", "nprobe", 1),
        ("ivfpq", "code_size", 1),
    ],
)
def test_settings_that_are_too_small_or_not_whole(name, setting, least):
    kept = IndexKind(name, {setting: numpy.int64(least)}).settings[setting]
    assert type(kept) is int
    assert kept == least
    for value in (least - 1, 2.5):
        message = f"{setting} must be an integer of at least {least}.*; got {value}"
        with pytest.raises(ValueError, match=message):
            IndexKind(name, {setting: value})


def test_a_setting_that_the_kind_does_not_have():
    with pytest.raises(ValueError, match="hnsw: there is a superfluous setting 'nprobe'"):
        IndexKind("hnsw", {"nprobe": 3})


@pytest.mark.parametrize("name", ["hsnw", "", ["hnsw"]])
def test_kinds_that_do_not_exist(name):
    with pytest.raises(ValueError, match=r"\['flat', 'hnsw', 'ivf', 'ivfpq'\] as the"):
        IndexKind(name)


def test_a_setting_that_faiss_does_not_take():
    with pytest.raises(ValueError, match="FAISS cannot make HNSW1000000000000: "):
        IndexKind("hnsw", {"m": 10**12}).create(6, 50)


@pytest.mark.parametrize(
    ("num_vectors", "name"),
    [
        (200_000, "flat"),
        (200_001, "hnsw"),
        (2_000_000, "hnsw"),
        (2_000_001, "ivfpq"),
    ],
)
def test_the_number_of_vectors_decides(num_vectors, name):
    assert default_kind(num_vectors).name == name


def test_the_settings_reach_the_graph(tmp_path):
    vectors = numpy.random.default_rng(0).normal(size=(50, 6)).astype("f4")
    index = build(vectors, "hnsw", m=5, ef_construction=31, ef_search=17)
    index.save(tmp_path / "s.faiss")
    saved = faiss.read_index(str(tmp_path / "s.faiss"))
    assert saved.hnsw.nb_neighbors(1) == 5
    assert saved.hnsw.efConstruction == 31
    assert saved.hnsw.efSearch == 17
    loaded = SentenceIndex.load(tmp_path / "s.faiss", IndexKind("hnsw", {"ef_search": 23}))
    assert loaded._index.hnsw.efSearch == 23


class TestOfInvertedLists:
    @pytest.fixture
    def vectors(self):
        """Return vectors in three directions, 30 near each."""
        centers = numpy.repeat(numpy.eye(3, 6, dtype="f4"), 30, axis=0)
        noise = numpy.random.default_rng(0).normal(size=(90, 6)).astype("f4")
        return centers + 0.1 * noise

    def test_only_the_nearest_lists_are_searched(self, vectors):
        index = build(vectors, "ivf", nlist=3, nprobe=1)
        cosines, positions = index.search(vectors[:1], k=90)
        assert sorted(positions[0, :30]) == list(range(30))
        assert (positions[0, 30:] == -1).all()
        assert (cosines[0, :30] > 0.7).all()

    def test_a_loaded_index_searches_as_many_lists_or_others(self, vectors, tmp_path):
        build(vectors, "ivf", nlist=3, nprobe=1).save(tmp_path / "s.faiss")
        _, positions = SentenceIndex.load(tmp_path / "s.faiss").search(vectors[:1], 90)
        assert (positions >= 0).sum() == 30
        of_all_lists = SentenceIndex.load(tmp_path / "s.faiss", IndexKind("ivf", {"nprobe": 3}))
        _, positions = of_all_lists.search(vectors[:1], k=90)
        assert sorted(positions[0]) == list(range(90))

    @pytest.mark.parametrize(
        ("num_vectors", "num_lists"),
        [
            (1, 1),
            (100, 2),
            (24336, 624),
            (1_000_000, 4000),
        ],
    )
    def test_the_default_number_of_lists(self, num_vectors, num_lists):
        assert IndexKind("ivf").create(4, num_vectors).nlist == num_lists

    def test_more_lists_than_vectors(self, vectors):
        with pytest.raises(ValueError, match=r"nlist must be at most .* is 90; got 91"):
            build(vectors, "ivf", nlist=91)
        with pytest.raises(ValueError, match=r"nlist must be at most .* is 0; got 1"):
            build(vectors[:0], "ivf")

    def test_few_vectors_print_no_warning(self, vectors, capfd):
        build(vectors, "ivf", nlist=10)
        repeated = numpy.repeat(vectors, 3, axis=0)
        build(repeated[:256], "ivfpq")
        assert capfd.readouterr() == ("", "")


class TestOfCompressedVectors:
    @pytest.fixture
    def vectors(self):
        return numpy.random.default_rng(0).normal(size=(400, 6)).astype("f4")

    def test_cosines_are_exact_with_the_vectors_and_approximate_without(self, vectors, tmp_path):
        rows = numpy.arange(399, -1, -1)
        index = build(
            vectors,
            "ivfpq",
            rows.tolist(),
            nlist=2,
            nprobe=2,
            code_size=2,
        )
        index.save(tmp_path / "s.faiss")
        exact = SentenceIndex.load(tmp_path / "s.faiss", vectors=vectors, rows=rows.tolist())
        approximate = SentenceIndex.load(tmp_path / "s.faiss")
        assert self.largest_error(exact, vectors, rows) < 1e-6
        assert self.largest_error(approximate, vectors, rows) >= 1e-3

    def largest_error(self, index, vectors, rows):
        """Return the largest error of a cosine in the order of the neighbors."""
        queries = vectors[:20]
        cosines, positions = index.search(queries, k=3)
        assert (numpy.diff(cosines, axis=1) <= 0).all()
        found = unit_length(vectors[rows[positions]])
        expected = (found * unit_length(queries)[:, None]).sum(axis=2)
        return numpy.abs(cosines - expected).max()

    def test_fewer_candidates_than_neighbors(self, vectors):
        index = build(vectors, "ivfpq", nlist=40, nprobe=1)
        cosines, positions = index.search(vectors[:2], k=400)
        num_found = (positions >= 0).sum(axis=1)
        assert (num_found < 100).all()
        for row, number in enumerate(num_found):
            assert (positions[row, number:] == -1).all()
            assert (cosines[row, number:] == -numpy.inf).all()
            assert numpy.isfinite(cosines[row, :number]).all()

    @pytest.mark.parametrize("rows", [range(800), range(799, -1, -1)])
    def test_fewer_candidates_than_neighbors_among_equal_vectors(self, vectors, rows):
        """As many as there are, with the cosines of their own vectors."""
        twice = numpy.concatenate([vectors, vectors])
        unit = unit_length(twice[rows])
        index = build(twice, "ivfpq", rows, nlist=40, nprobe=1)
        cosines, positions = index.search(vectors[:2], k=800)
        for query, near in enumerate(positions):
            found = near[near >= 0]
            assert 2 <= len(found) < 200
            expected = unit[found] @ unit_length(vectors[query])
            numpy.testing.assert_allclose(cosines[query, : len(found)], expected, atol=1e-5)
            # Equal vectors are found together.
            originals = sorted(found % 400)
            assert originals[::2] == originals[1::2]

    @pytest.mark.parametrize(
        ("vector_size", "parts"),
        [
            (6, 6),
            (300, 60),
            (384, 64),
            (1200, 75),
        ],
    )
    def test_the_default_code_size(self, vector_size, parts):
        codes = IndexKind("ivfpq").create(vector_size, 1000).pq
        assert codes.code_size == parts

    def test_what_does_not_suit_the_vectors(self, vectors):
        with pytest.raises(ValueError, match=r"code_size must divide .* is 6; got 4"):
            build(vectors, "ivfpq", code_size=4)
        with pytest.raises(ValueError, match=r"256 codes .* got 255; choose the kind flat"):
            build(vectors[:255], "ivfpq")
        with pytest.raises(ValueError, match="vectors of size 1021 into equal parts of"):
            IndexKind("ivfpq").create(1021, 1000)
