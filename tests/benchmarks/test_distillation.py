"""Compare with average precision and V-measure by hand, and check the bounds of drawn labels."""

import gzip
import itertools
import json
import sys
from functools import partial

import numpy
import pytest

from allennlp_sentmatch.transfer import SentenceVectors
from benchmarks import distillation
from tests.estimators.tiny_encoder import tiny_encoder

Text = pytest.importorskip("matplotlib.text").Text


def vectors(of):
    return SentenceVectors(lambda texts: numpy.array([of[text] for text in texts], "f4"))


def write(path, *rows):
    path.parent.mkdir(exist_ok=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()))


INTENTS = {"card": [3, 0], "cash": [0, 3], "code": [-3, 0]}
"""The directions of the texts of each intent."""


def test_the_mean_average_precision_is_over_questions_with_right_and_wrong_answers(tmp_path):
    """For question q, the first and the third answer are right: (1 / 1 + 2 / 3) / 2."""
    rows = [
        ("q", "a", "1"),
        ("q", "b", "0"),
        ("q", "c", "1"),
        ("r", "a", "0"),
        ("s", "b", "1"),
    ]
    columns = ("Q", "A", "L")
    write(tmp_path / "x/y.tsv.gz", columns, *rows)
    of_texts = {
        "q": [2, 0],
        "r": [0, 1],
        "s": [0, 1],
        "a": [9, 0],
        "b": [1, 1],
        "c": [1, 3],
    }
    found = distillation.of_answers("x/y.tsv.gz", columns, vectors(of_texts), tmp_path)
    assert found == pytest.approx(5 / 6)


def test_clusters_of_intents(tmp_path):
    of_texts = {}
    lines = ["text,category\n"]
    for intent, direction in INTENTS.items():
        for i in range(3):
            text = f"{intent} {i}"
            of_texts[text] = [i / 9, *direction]
            lines.append(f"{text},{intent}\n")
    (tmp_path / "banking77").mkdir()
    content = gzip.compress("".join(lines).encode())
    (tmp_path / "banking77/test.csv.gz").write_bytes(content)
    assert distillation.of_clusters(vectors(of_texts), tmp_path) == pytest.approx(1)


def test_variants_of_an_encoder(tmp_path):
    tiny_encoder().save(tmp_path)
    texts = ["a dog", "a cat sleeps"]
    encode, files = distillation.load(str(tmp_path), tmp_path)
    whole = encode(texts)
    assert files == [tmp_path]
    encode_first, _ = distillation.load(f"{tmp_path}@2", tmp_path)
    numpy.testing.assert_array_equal(encode_first(texts), whole[:, :2])
    encode_rounded, _ = distillation.load(f"{tmp_path}@bfloat16", tmp_path)
    rounded = encode_rounded(texts)
    assert rounded.dtype == numpy.float32
    assert 0 < numpy.abs(rounded - whole).max() < 0.05


def record(name, speed, mean, megabytes=10):
    return {
        "encoder": name,
        distillation.SPEED: speed,
        "mean": mean,
        "megabytes": megabytes,
    }


def test_labels_touch_nothing(tmp_path, monkeypatch):
    """Points in a row, two of them nearly equal, and one without a measurement."""
    records = [record("a" * 12, 100 * 2**i, 0.7) for i in range(4)]
    records.append(record("b" * 12, 101, 0.7))
    records.append(record("large", 90, 0.6, 400))
    records.append({"encoder": "none"})
    boxes = []

    def savefig(figure, path):
        boxes.extend(Text.get_window_extent(text) for text in figure.axes[0].texts)

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", savefig)
    distillation.draw(records, tmp_path / "a.png")
    assert len(boxes) == 6
    for box, other in itertools.combinations(boxes, 2):
        assert not box.overlaps(other)


def test_too_many_labels_are_an_error(tmp_path):
    with pytest.raises(SystemExit, match="no place for the label of bbb"):
        distillation.draw([record("b" * 12, 100, 0.7)] * 40, tmp_path / "a.png")


def test_only_what_is_not_there_is_measured(tmp_path, monkeypatch):
    output = tmp_path / "out.json"
    asked = []
    for size, figures in ((8, ["stsb"]), (8, ["stsb", "sick"]), (4, ["sick"])):
        folder = tmp_path / str(size) / "tiny"
        if not folder.exists():
            tiny_encoder(size).save(folder)
        quality = {name: (name, partial(measured, asked, name)) for name in figures}
        monkeypatch.setattr(distillation, "QUALITY", quality)
        words = ["", str(tmp_path), str(folder), "--others", "--threads", "--output", str(output)]
        monkeypatch.setattr(sys, "argv", words)
        distillation.main()
        (made,) = json.loads(output.read_text())["records"]
        assert made["size"] == 2 * size
        assert made["mean"] == 0.5
    assert asked == ["stsb", "sick", "sick"]


def measured(asked, name, vectors, data):
    vectors.add("x", ["a dog"])
    asked.append(name)
    return 0.5
