"""Compare with average precision and V-measure by hand, and check the bounds of drawn labels."""

import gzip
import json
import sys
from functools import partial

import numpy
import pytest
from matplotlib.text import Text

from allennlp_sentmatch.transfer import SentenceVectors
from benchmarks import distillation
from tests.estimators.tiny_encoder import tiny_encoder


def vectors(of):
    return SentenceVectors(lambda texts: numpy.array([of[text] for text in texts], "f4"))


def write(path, *rows):
    path.parent.mkdir(exist_ok=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()))


def test_the_mean_average_precision_is_over_questions_with_right_and_wrong_answers(tmp_path):
    """For question q, the first and the third answer are right: (1 / 1 + 2 / 3) / 2."""
    rows = [("q", "a", "1"), ("q", "b", "0"), ("q", "c", "1"), ("r", "a", "0"), ("s", "b", "1")]
    write(tmp_path / "x/y.tsv.gz", ("Q", "A", "L"), *rows)
    of = {"q": [2, 0], "r": [0, 1], "s": [0, 1], "a": [9, 0], "b": [1, 1], "c": [1, 3]}
    found = distillation.of_answers("x/y.tsv.gz", ("Q", "A", "L"), vectors(of), tmp_path)
    assert found == pytest.approx(5 / 6)


def test_clusters_of_intents(tmp_path):
    texts = {f"{intent} {i}": [i / 9, *axis] for intent, axis in AXES.items() for i in range(3)}
    rows = [(text, text.split()[0]) for text in texts]
    (tmp_path / "banking77").mkdir()
    table = "text,category\n" + "".join(f"{text},{intent}\n" for text, intent in rows)
    (tmp_path / "banking77/test.csv.gz").write_bytes(gzip.compress(table.encode()))
    assert distillation.of_clusters(vectors(texts), tmp_path) == pytest.approx(1)


AXES = {"card": [3, 0], "cash": [0, 3], "code": [-3, 0]}


def test_variants_of_an_encoder(tmp_path):
    tiny_encoder().save(tmp_path)
    encode, files = distillation.load(str(tmp_path), tmp_path)
    whole = encode(["a dog", "a cat sleeps"])
    assert files == [tmp_path]
    first = distillation.load(f"{tmp_path}@2", tmp_path)[0](["a dog", "a cat sleeps"])
    numpy.testing.assert_array_equal(first, whole[:, :2])
    rounded = distillation.load(f"{tmp_path}@bfloat16", tmp_path)[0](["a dog", "a cat sleeps"])
    assert rounded.dtype == numpy.float32
    assert 0 < numpy.abs(rounded - whole).max() < 0.05


def record(name, speed, mean, megabytes=10):
    return {"encoder": name, distillation.SPEED: speed, "mean": mean, "megabytes": megabytes}


def test_labels_touch_nothing(tmp_path, monkeypatch):
    """Points in a row, two of them nearly equal, and one without a measurement."""
    records = [record("a" * 12, 100 * 2**i, 0.7) for i in range(4)]
    records += [record("b" * 12, 101, 0.7), record("large", 90, 0.6, 400), {"encoder": "none"}]
    boxes = []
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, path: boxes.extend(
        Text.get_window_extent(text) for text in figure.axes[0].texts
    ))  # fmt: skip
    distillation.draw(records, tmp_path / "a.png")
    assert len(boxes) == 6
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
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
        assert (made["size"], made["mean"]) == (2 * size, 0.5)
    assert asked == ["stsb", "sick", "sick"]


def measured(asked, name, vectors, data):
    vectors.add("x", ["a dog"])
    asked.append(name)
    return 0.5
