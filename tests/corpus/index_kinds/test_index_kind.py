"""Tests of what all kinds of indexes have in common, against cosines computed in NumPy."""

from pathlib import Path

import numpy
import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import IndexKind, SentenceIndex
from allennlp_sentmatch.data.files.digests import MARK

SIZE = 12

EXHAUSTIVE = {
    "flat": {},
    "hnsw": {"m": 32, "ef_search": 600},
    "ivf": {"nlist": 9, "nprobe": 9},
    "ivfpq": {"nlist": 9, "nprobe": 9, "refine_factor": 600},
}
"""Settings with which each kind compares a query with all of 600 vectors."""


@pytest.fixture(scope="module", autouse=True)
def _faiss():
    pytest.importorskip("faiss")


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
    a, b = (
        x.astype("f8") / numpy.linalg.norm(x, axis=1, keepdims=True) for x in (queries, vectors)
    )
    cosines = a @ b.T
    rows = numpy.argsort(-cosines, axis=1)[:, :k]
    return numpy.take_along_axis(cosines, rows, axis=1), rows


def kind_of(name, **settings):
    return IndexKind.from_params(Params({"type": name, **settings}))


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_search_of_everything_is_exact(vectors, queries, name):
    index = SentenceIndex.build(vectors, block_size=100, kind=kind_of(name, **EXHAUSTIVE[name]))
    assert (len(index), index.vector_size) == (600, SIZE)
    cosines, positions = index.search(queries, k=7)
    expected_cosines, expected_rows = exact(vectors, queries, 7)
    numpy.testing.assert_array_equal(positions, expected_rows)
    numpy.testing.assert_allclose(cosines, expected_cosines, atol=1e-6)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_the_default_settings_find_nearly_all(vectors, queries, name):
    index = SentenceIndex.build(vectors, kind=IndexKind.by_name(name)())
    _, positions = index.search(queries, k=10)
    _, expected = exact(vectors, queries, 10)
    found = [len(set(a) & set(b)) for a, b in zip(positions.tolist(), expected.tolist())]
    assert numpy.mean(found) > 9


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_chosen_rows_have_positions_of_their_own(vectors, queries, name):
    rows = list(range(599, 99, -1))
    index = SentenceIndex.build(vectors, rows, kind=kind_of(name, **EXHAUSTIVE[name]))
    _, positions = index.search(queries, k=5)
    _, expected = exact(vectors[rows], queries, 5)
    numpy.testing.assert_array_equal(positions, expected)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_saved_index_is_mapped_and_finds_the_same(vectors, queries, tmp_path, name):
    path = tmp_path / "s.faiss"
    index = SentenceIndex.build(vectors, kind=kind_of(name, **EXHAUSTIVE[name]))
    index.save(path)
    # FAISS saves the settings, except for `refine_factor`.
    for kind in [None, kind_of(name, **EXHAUSTIVE[name])][name == "ivfpq" :]:
        loaded = SentenceIndex.load(path, kind, vectors)
        for ours, theirs in zip(loaded.search(queries, 4), index.search(queries, 4)):
            numpy.testing.assert_allclose(ours, theirs, atol=1e-6)
    maps = Path("/proc/self/maps")
    if maps.exists():  # Linux
        assert str(path) in maps.read_text()


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_an_index_holds_the_vectors_it_was_built_from(vectors, tmp_path, name):
    index = SentenceIndex.build(vectors, kind=kind_of(name, **EXHAUSTIVE[name]))
    index.save(tmp_path / "s.faiss")
    loaded = SentenceIndex.load(tmp_path / "s.faiss")
    positions = list(range(0, 600, 20))
    rounded = vectors[positions] * (1 + 1e-6 * numpy.sin(numpy.arange(SIZE, dtype="f4")))
    assert loaded.holds(vectors[positions], positions).all()
    assert loaded.holds(rounded, positions).all()
    assert not loaded.holds(vectors[positions], [position + 1 for position in positions]).any()


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_shortened_file_is_refused(vectors, tmp_path, name):
    path = tmp_path / "s.faiss"
    SentenceIndex.build(vectors, kind=kind_of(name)).save(path)
    whole = path.read_bytes()
    for length in numpy.linspace(0, len(whole) - 1, 20).astype(int):
        path.write_bytes(whole[:length])
        with pytest.raises(ConfigurationError, match=r"s\.faiss is not an index"):
            SentenceIndex.load(path)


def without_digest(content):
    """A file as earlier versions wrote it, which FAISS checks alone."""
    return content.partition(MARK)[0]


@pytest.mark.parametrize("name", ["ivf", "ivfpq"])
def test_numbers_of_vectors_that_do_not_exist_are_refused(vectors, tmp_path, name):
    path = tmp_path / "s.faiss"
    SentenceIndex.build(vectors, kind=kind_of(name, nlist=1)).save(path)
    content = without_digest(path.read_bytes())
    numbers = numpy.arange(600, dtype="i8").tobytes()
    assert content.count(numbers) == 1
    wrong = numpy.arange(600, dtype="i8")
    wrong[300] = 10**6
    path.write_bytes(content.replace(numbers, wrong.tobytes()))
    with pytest.raises(ConfigurationError, match=r"s\.faiss is not an index .* damaged"):
        SentenceIndex.load(path)


@pytest.mark.parametrize("name", ["ivf", "ivfpq"])
def test_a_number_of_vectors_that_no_memory_holds_is_refused(vectors, tmp_path, name):
    path = tmp_path / "s.faiss"
    SentenceIndex.build(vectors, kind=kind_of(name, nlist=1)).save(path)
    content = without_digest(path.read_bytes())
    # After the kind's four bytes and four of the vectors' size.
    assert content[8:16] == (600).to_bytes(8, "little")
    path.write_bytes(content[:8] + (1 << 50).to_bytes(8, "little") + content[16:])
    with pytest.raises(ConfigurationError, match=r"s\.faiss is not an index .* damaged"):
        SentenceIndex.load(path)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_any_changed_byte_is_found(vectors, tmp_path, name):
    path = tmp_path / "s.faiss"
    SentenceIndex.build(vectors, kind=IndexKind.by_name(name)()).save(path, "0" * 64)
    content = path.read_bytes()
    for position in numpy.linspace(4, len(content) - 1, 99).astype(int):
        changed = bytes([content[position] ^ 1])
        path.write_bytes(content[:position] + changed + content[position + 1 :])
        with pytest.raises(
            ConfigurationError, match=r"s\.faiss is not .*damaged; name another file"
        ):
            SentenceIndex.load(path)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_an_index_without_a_digest(vectors, queries, tmp_path, name):
    path = tmp_path / "s.faiss"
    index = SentenceIndex.build(vectors, kind=IndexKind.by_name(name)())
    index.save(path)
    path.write_bytes(without_digest(path.read_bytes()))
    found = SentenceIndex.load(path, vectors=vectors).search(queries, 4)
    for ours, theirs in zip(found, index.search(queries, 4)):
        numpy.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_another_kind_than_the_file_has(vectors, tmp_path):
    SentenceIndex.build(vectors, kind=kind_of("hnsw")).save(tmp_path / "s.faiss")
    with pytest.raises(ConfigurationError, match=r"s\.faiss is an index of kind hnsw, not ivf"):
        SentenceIndex.load(tmp_path / "s.faiss", kind_of("ivf"))


def test_unknown_kinds_and_settings():
    with pytest.raises(ConfigurationError, match="hsnw not in acceptable choices"):
        kind_of("hsnw")
    with pytest.raises(ConfigurationError, match="nprobe"):
        kind_of("hnsw", nprobe=3)


@pytest.mark.parametrize(
    ("name", "setting", "least"),
    [
        ("hnsw", "m", 2),
        ("hnsw", "ef_construction", 1),
        ("hnsw", "ef_search", 1),
        ("ivf", "nlist", 1),
        ("ivf", "nprobe", 1),
        ("ivfpq", "nprobe", 1),
        ("ivfpq", "code_size", 1),
        ("ivfpq", "refine_factor", 1),
    ],
)
def test_settings_must_be_large_enough(name, setting, least):
    kind_of(name, **{setting: least})
    with pytest.raises(
        ConfigurationError,
        match=f"{setting} must be an integer of at least {least}, got {least - 1}",
    ):
        kind_of(name, **{setting: least - 1})
    with pytest.raises(ConfigurationError, match=f"{setting} must be an integer .* got 2.5"):
        IndexKind.by_name(name)(**{setting: 2.5})
