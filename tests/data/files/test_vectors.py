import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.vectors import map_vectors

VECTORS = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)


@pytest.fixture
def file(tmp_path):
    numpy.save(tmp_path / "v.npy", VECTORS)
    return tmp_path / "v.npy"


def test_vectors_are_mapped(file):
    vectors = map_vectors(file)
    assert isinstance(vectors, numpy.memmap)
    assert not vectors.flags.writeable
    numpy.testing.assert_array_equal(vectors, VECTORS)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (numpy.zeros(4), r"array of float64 of shape \(4,\)"),
        (numpy.zeros((4, 0)), r"shape \(4, 0\)"),
        (numpy.zeros((4, 3), int), r"array of int64 of shape \(4, 3\); expected floating-point"),
        (numpy.array([["a"]] * 4), "expected floating-point numbers"),
        (numpy.array([[None]] * 4), "is not a whole NumPy file of numbers"),
    ],
)
def test_other_arrays(file, array, message):
    numpy.save(file, array)
    with pytest.raises(ConfigurationError, match=message) as refused:
        map_vectors(file)
    assert "pickle" not in str(refused.value)


def test_damaged_and_missing_files(file):
    content = file.read_bytes()
    for damaged in (b"", content[:40], content[:-5], b"vectors"):
        file.write_bytes(damaged)
        with pytest.raises(
            ConfigurationError, match=r"v\.npy is not a whole NumPy file"
        ) as refused:
            map_vectors(file)
        assert "pickle" not in str(refused.value)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"v\.npy"):
        map_vectors(file)


def test_several_arrays(file):
    numpy.savez(file.with_suffix(".npz"), VECTORS)
    with pytest.raises(ConfigurationError, match=r"holds several arrays \(\.npz\)"):
        map_vectors(file.with_suffix(".npz"))
