"""Compare with the losses' definitions, pair by pair, and the encoder's forward pass."""

import math
import sys
from contextlib import nullcontext

import numpy
import pytest
import torch

from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.standalone import StandaloneEncoder
from scripts.encoder import train_sentence_encoder
from scripts.encoder.train_sentence_encoder import NESTED_WEIGHT, SCALE

pytestmark = pytest.mark.slow  # the program made the package's encoder once

PIECES = ["[PAD]", "[UNK]", "[CLS]", "a", "dog", "cat", "runs", "##s", "sleep"]
TEXTS = ["A dog runs", "a cat sleeps", "Dogs sleep", "cats", "a cat runs", "a dog sleeps"]


def unit_vectors(number, size=5):
    vectors = numpy.random.default_rng(0).normal(size=(number, size))
    return torch.nn.functional.normalize(torch.tensor(vectors))


def test_cosent():
    vectors = unit_vectors(8)
    scores = [3.0, 1.0, 1.0, 4.5]
    cosines = [float(vectors[2 * i] @ vectors[2 * i + 1]) for i in range(4)]
    terms = [
        math.exp(SCALE * (cosines[low] - cosines[high]))
        for low in range(4)
        for high in range(4)
        if scores[low] < scores[high]
    ]
    assert len(terms) == 5
    expected = math.log(1 + sum(terms))
    found = train_sentence_encoder.cosent(vectors, torch.tensor(scores))
    assert found.item() == pytest.approx(expected, rel=1e-12)


def test_first_dimensions_have_a_loss_of_their_own():
    student = unit_vectors(4, 300)
    teacher = unit_vectors(4, 300).flip(0)
    cosines = DistillationLoss()
    groups = torch.tensor([7, 2, 7, 7])

    def cosine(u, v):
        return u @ v / (u.norm() * v.norm())

    def loss_of(size):
        u = student[:, :size]
        v = teacher[:, :size]
        near = [(cosine(u[i], u[j]) - cosine(v[i], v[j])) ** 2 for i, j in ((0, 2), (0, 3), (2, 3))]
        return 1 - torch.stack(list(map(cosine, u, v))).mean() + 2 * torch.stack(near).mean()

    expected = loss_of(300) + NESTED_WEIGHT * (loss_of(64) + loss_of(128) + loss_of(256))
    found = train_sentence_encoder.nested_loss(cosines, 2.0, student, teacher, groups)
    torch.testing.assert_close(found, expected)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The arguments of a small training on a CPU, in the precision of the parameters."""
    monkeypatch.setattr(train_sentence_encoder, "fast_products", lambda device: nullcontext())
    precision = torch.backends.cuda.matmul.allow_tf32  # `main` sets it
    (tmp_path / "vectors").mkdir()
    generator = numpy.random.default_rng(0)
    numpy.save(tmp_path / "vectors/vectors.npy", generator.normal(size=(120, 300)).astype("f2"))
    numpy.save(tmp_path / "vectors/pieces.npy", generator.normal(size=(9, 300)).astype("f2"))
    (tmp_path / "vocabulary.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    (tmp_path / "sentences.txt").write_text("".join(f"{text}\n" for text in TEXTS * 20))
    pairs = [f"\t\t\t\t{i % 5}\t{TEXTS[i % 6]}\t{TEXTS[-1 - i % 4]}\n" for i in range(40)]
    (tmp_path / "pairs.csv").write_text("".join(pairs))
    names = ("sentences.txt", "vectors", "vocabulary.txt")
    yield [str(tmp_path / name) for name in names], str(tmp_path / "pairs.csv"), tmp_path
    torch.backends.cuda.matmul.allow_tf32 = precision


def run(monkeypatch, files, output, *options):
    arguments, pairs, folder = files
    sizes = ["--size", "8", "--input-size", "4", "--hidden-size", "3"]
    options = [*sizes, "--validation", pairs, "--device", "cpu", *options]
    monkeypatch.setattr(sys, "argv", ["", *arguments, str(folder / output), *options])
    train_sentence_encoder.main()
    return StandaloneEncoder.load(folder / output / "encoder")


SHORT = ("--epochs", "2", "--save-every", "1", "--batch-size", "32")


@pytest.fixture
def first(files, monkeypatch):
    return run(monkeypatch, files, "first", *SHORT)


@pytest.mark.parametrize("scored", [False, True])
def test_an_interrupted_training_continues(files, first, scored, monkeypatch, capsys):
    initial = ("--initial", str(files[2] / "first/training.pt"), "--bits", "4")
    options = (*SHORT, *initial, "--scored", files[1]) if scored else SHORT
    whole = run(monkeypatch, files, "whole", *options) if scored else first
    saved = torch.save

    def fail(state, file):
        saved(state, file)
        if state["step"] == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(torch, "save", fail)
        with pytest.raises(KeyboardInterrupt):
            run(monkeypatch, files, "parts", *options)
    continued = run(monkeypatch, files, "parts", *options)
    torch.testing.assert_close(continued.state_dict(), whole.state_dict())
    assert ("40 of 40 scored pairs" in capsys.readouterr().out) == scored


def test_lengths_and_rounding(first):
    assert numpy.linalg.norm(first.encode(TEXTS), axis=1).mean() == pytest.approx(1, abs=0.05)
    indices = torch.tensor([[3, 4, 6], [5, 7, 0]])
    torch.testing.assert_close(
        train_sentence_encoder.forward(first, indices, bits=0), first(indices)
    )
    # The words' vectors have been rounded already.
    torch.testing.assert_close(
        train_sentence_encoder.forward(first, indices, bits=4), first(indices)
    )


def test_the_mean_of_several_students(files, first, monkeypatch):
    run(monkeypatch, files, "second", *SHORT, "--seed", "1")
    initial = [str(files[2] / name / "training.pt") for name in ("first", "second")]
    mean = run(monkeypatch, files, "mean", "--epochs", "0", "--initial", *initial)
    states = [torch.load(file, weights_only=True)["model"] for file in initial]
    expected = sum(state["embedding.weight"] for state in states) / 2
    half_steps = expected.abs().amax(1, keepdim=True) / 14  # of 4 bits
    assert ((mean.embedding.weight - expected).abs() < 1.01 * half_steps).all()


def test_another_training_is_not_continued(files, first, monkeypatch):
    with pytest.raises(SystemExit, match="is of a training with other files or settings"):
        run(monkeypatch, files, "first", *SHORT, "--rate", "0.1")
    (files[2] / "vocabulary.txt").write_text("".join(f"{piece}\n" for piece in [*PIECES[:-1], "x"]))
    with pytest.raises(SystemExit, match="is of a training with other files or settings"):
        run(monkeypatch, files, "first", *SHORT)
    with open(files[2] / "sentences.txt", "a") as sentences:
        sentences.write("a cat\n")
    with pytest.raises(SystemExit, match=r"has 121 sentences, .* has vectors of 120"):
        run(monkeypatch, files, "second", *SHORT)
