"""Compare with the products in the docstring, also after interruptions."""

import sys

import numpy
import pytest
import torch

from scripts.encoder import teacher_vectors

pytestmark = pytest.mark.slow  # the program made the package's encoder once

SENTENCES = [f"sentence {i}" for i in range(10)]


class Teacher:
    """Vectors that depend on a text and a folder's name; the `fails`-th call is interrupted."""

    calls = 0
    fails = None

    def __init__(self, folder, device):
        self.seed = sum(folder.name.encode())

    def encode(self, texts):
        Teacher.calls += 1
        if Teacher.calls == Teacher.fails:
            raise KeyboardInterrupt
        rows = [numpy.random.default_rng([self.seed, *text.encode()]) for text in texts]
        vectors = numpy.array([row.normal(size=4) for row in rows], "f4")
        return torch.nn.functional.normalize(torch.from_numpy(vectors))

    piece_vectors = encode


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(teacher_vectors, "Teacher", Teacher)
    monkeypatch.setattr(teacher_vectors, "BLOCK", 4)
    (tmp_path / "vocabulary.txt").write_text("a\nb\n")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(name)

    def run(output, sentences=SENTENCES, fails=None, teachers=("one", "two")):
        (tmp_path / "sentences.txt").write_text("".join(f"{text}\n" for text in sentences))
        names = ["sentences.txt", "vocabulary.txt", output, *teachers]
        words = ["", *(str(tmp_path / name) for name in names), "--size", "4", "--device", "cpu"]
        monkeypatch.setattr(sys, "argv", words)
        Teacher.calls = 0
        Teacher.fails = fails
        teacher_vectors.main()
        return [numpy.load(tmp_path / output / f"{name}.npy") for name in ("vectors", "pieces")]

    return run


def test_cosines_of_the_first_block_are_the_means_of_the_teachers(run):
    """Its four vectors lie in four directions, which keep their products."""
    vectors, pieces = run("whole")
    assert vectors.shape == (10, 4)
    assert pieces.shape == (2, 4)
    assert vectors.dtype == numpy.float16
    own = [
        Teacher(teacher_vectors.Path(name), "cpu").encode(SENTENCES[:4]) for name in ("one", "two")
    ]
    expected = sum(each @ each.t() for each in own) / 2
    numpy.testing.assert_allclose(vectors[:4] @ vectors[:4].T, expected, atol=4e-3)


@pytest.mark.parametrize("fails", [1, 3, 4, 7])
def test_an_interrupted_run_continues(run, tmp_path, fails):
    whole = run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("parts", fails=fails)
    for file in (tmp_path / "parts").rglob("vectors.*.npy"):
        if file.name == "vectors.4.npy":
            file.write_bytes(file.read_bytes()[:-9])  # damaged
    parts = run("parts")
    for a, b in zip(whole, parts):
        numpy.testing.assert_array_equal(a, b)
    assert [file.name for file in (tmp_path / "parts").iterdir()] == ["pieces.npy", "vectors.npy"]


@pytest.mark.parametrize(
    "other",
    [
        {"sentences": [*SENTENCES[:4], "new"]},
        {"teachers": ("two", "one")},
    ],
)
def test_blocks_of_other_sentences_or_teachers_are_not_taken(run, other):
    with pytest.raises(KeyboardInterrupt):
        run("parts", fails=3)
    numpy.testing.assert_array_equal(run("parts", **other)[0], run("whole", **other)[0])
