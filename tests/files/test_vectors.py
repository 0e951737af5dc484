"""Stored vectors are mapped, and every change of them or of their sentences is noticed."""

import numpy
import pytest

from allennlp_sentmatch.files.digests import ending, is_whole, sentences_digest
from allennlp_sentmatch.files.vectors import check_sentences, map_vectors, save_array

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
    with pytest.raises(ValueError, match=message) as refused:
        map_vectors(file)
    assert "pickle" not in str(refused.value)


def test_damaged_and_missing_files(file):
    content = file.read_bytes()
    brackets = content.replace(b"}      ", b"} (((((", 1)
    indented = content.replace(b"}      ", b"}\n  1\n 1", 1)
    message = r"v\.npy is not a whole NumPy file((?!pickle).)*$"
    for damaged in (b"", content[:40], content[:-5], b"vectors", brackets, indented):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=message):
            map_vectors(file)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"v\.npy"):
        map_vectors(file)


def test_every_edit_and_every_swap_of_sentences_is_noticed(file):
    sentences = [f"sentence {number}" for number in range(200)]
    check_sentences(sentences, file)  # which has no digest
    with open(file, "ab") as opened:
        opened.write(ending(sentences_digest(sentences).hexdigest()))
    numpy.testing.assert_array_equal(map_vectors(file), VECTORS)
    numpy.testing.assert_array_equal(numpy.load(file), VECTORS)
    check_sentences(iter(sentences), file)
    message = r"v\.npy was made from other .*; encode them again"
    for row in range(199):
        edited = [*sentences[:row], "another", *sentences[row + 1 :]]
        swapped = [*sentences[:row], *sentences[row : row + 2][::-1], *sentences[row + 2 :]]
        for changed in (edited, swapped, sentences[:row]):
            with pytest.raises(ValueError, match=message):
                check_sentences(changed, file)


def test_a_saved_array_is_whole_until_any_byte_changes(tmp_path):
    path = tmp_path / "folder" / "v.npy"
    assert not is_whole(path)
    save_array(path, VECTORS)
    assert [file.name for file in path.parent.iterdir()] == ["v.npy"]
    numpy.testing.assert_array_equal(map_vectors(path), VECTORS)
    assert is_whole(path)
    content = path.read_bytes()
    for position in range(len(content)):
        changed = bytes([content[position] ^ 1])
        path.write_bytes(content[:position] + changed + content[position + 1 :])
        assert not is_whole(path)
        path.write_bytes(content[:position])
        assert not is_whole(path)
    path.write_bytes(content + b" ")
    assert not is_whole(path)


def test_several_arrays(tmp_path):
    numpy.savez(tmp_path / "v.npz", VECTORS)
    with pytest.raises(ValueError, match=r"v\.npz holds several arrays \(\.npz\); expected one"):
        map_vectors(tmp_path / "v.npz")
