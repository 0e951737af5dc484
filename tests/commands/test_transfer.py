"""`allennlp transfer` evaluates encoders and stored vectors, and its cache fits only its input."""

import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.encoding import ArchiveEncoder
from tests.transfer.small_data import write_small_data


@pytest.fixture(autouse=True)
def _own_progress_bars(monkeypatch):
    monkeypatch.setattr("allennlp.common.logging.FILE_FRIENDLY_LOGGING", False)


@pytest.fixture
def folder(tmp_path):
    return write_small_data(tmp_path / "data")


def test_an_archive_and_its_vectors_on_disk(allennlp, small_archive, folder, tmp_path, capsys):
    tasks = ["TREC", "MRPC", "SICK-R", "SICK-E", "STSB"]
    options = [
        "--data", folder, "--folds", 3, "--seed", 5, "--name", "one encoder", "--tasks", *tasks
    ]  # fmt: skip
    cache = tmp_path / "cache"
    allennlp(
        "transfer", small_archive, *options, "--cache", cache, "--output-file", tmp_path / "a.json"
    )
    table = capsys.readouterr().out
    assert table.splitlines()[2].startswith("| one encoder |")
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["encoder"] == "one encoder"
    assert report["settings"] == {"num_folds": 3, "seed": 5}
    assert list(report["tasks"]) == tasks
    assert len(list(cache.iterdir())) == 4  # one for each data set

    sentences_file = tmp_path / "s.txt"
    vectors_file = tmp_path / "v.npy"
    allennlp("transfer", "--list-sentences", sentences_file, "--data", folder)
    sentences = sentences_file.read_text().splitlines()
    assert f"wrote {len(sentences)} sentences" in capsys.readouterr().out
    encoder = ArchiveEncoder.from_archive(small_archive)
    numpy.save(vectors_file, encoder.encode(sentences))
    allennlp(
        "transfer", "--vectors", sentences_file, vectors_file, *options,
        "--output-file", tmp_path / "b.json",
    )  # fmt: skip
    again = json.loads((tmp_path / "b.json").read_text())
    # The batches differ, and so do the vectors' last digits.
    assert again["metrics"] == pytest.approx(report["metrics"], abs=0.1)


@pytest.fixture
def report(allennlp, folder, tmp_path):
    """Runs the command with three folds; returns its output, or a task's metrics with a cache."""

    def run(*arguments, data=("--data", folder)):
        output = tmp_path / "out.json"
        output.unlink(missing_ok=True)
        allennlp("transfer", *arguments, *data, "--folds", 3, "--output-file", output)
        return json.loads(output.read_text())

    return run


@pytest.fixture
def figures(report, tmp_path):
    return lambda *encoder: report(*encoder, "--tasks", "MR", "--cache", tmp_path / "cache")[
        "metrics"
    ]


class _FakeTransformer:
    """Reads a sentence's vector from its folder."""

    def __init__(self, name, device):
        self._words = json.loads((Path(name) / "module" / "words.json").read_text())

    def encode(self, sentences, batch_size, show_progress_bar):
        return numpy.array([[word in s for word in self._words] for s in sentences], "f4")


def test_the_cache_is_of_a_folders_contents(figures, tmp_path, monkeypatch):
    module = SimpleNamespace(SentenceTransformer=_FakeTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    encoder = ["--sentence-transformer", tmp_path / "model"]
    words = tmp_path / "model" / "module" / "words.json"
    words.parent.mkdir(parents=True)
    words.write_text('["?"]')
    assert figures(*encoder)["mr_accuracy"] < 1
    words.write_text('["good"]')
    assert figures(*encoder) == {"mr_accuracy": 1.0}
    assert figures(*encoder) == {"mr_accuracy": 1.0}
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_the_cache_is_of_the_same_sentences_and_vectors(allennlp, folder, tmp_path, figures):
    """Vectors that determine the labels, first in the order of other sentences."""
    allennlp("transfer", "--list-sentences", tmp_path / "s.txt", "--data", folder, "--tasks", "MR")
    sentences = (tmp_path / "s.txt").read_text().splitlines()
    numpy.save(tmp_path / "v.npy", [[float("good" in s), float("bad" in s)] for s in sentences])
    files = [tmp_path / "mixed.txt", tmp_path / "v.npy"]
    other = random.Random(0).sample(sentences, len(sentences))
    (tmp_path / "mixed.txt").write_text("\n".join(other))
    mixed = figures("--vectors", *files)
    assert mixed["mr_accuracy"] < 1
    (tmp_path / "mixed.txt").write_text("\n".join(sentences))
    assert figures("--vectors", *files) == {"mr_accuracy": 1.0}
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_failed_task_is_an_error_after_the_others(report, folder, write, tmp_path, capsys):
    (folder / "cr" / "custrev.neg").unlink()
    vectors = write("good 1 0\nbad 0 1\n", "vectors.txt")
    with pytest.raises(ConfigurationError, match=r"1 of 2 tasks failed: CR \(.*custrev\.neg"):
        report("--word-vectors", vectors, "--tasks", "MR", "CR")
    assert "| 100.0 | failed |" in capsys.readouterr().out
    assert json.loads((tmp_path / "out.json").read_text())["metrics"] == {"mr_accuracy": 1.0}


def test_a_model_of_sentence_transformers(report, tiny_bert, tmp_path, capsys):
    models = pytest.importorskip("sentence_transformers.models")
    from sentence_transformers import SentenceTransformer

    modules = [models.Transformer(tiny_bert), models.Pooling(8)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "model"))
    found = report("--sentence-transformer", tmp_path / "model", "--tasks", "MR")
    assert "| MR |" in capsys.readouterr().out
    assert found["vector_size"] == 8


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--batch-size", 0, "at least 1; got 0"),
        ("--output-file", "no/where.json", "no/where.json"),
    ],
)
def test_mistakes_show_at_once(allennlp, folder, small_archive, option, value, message):
    with pytest.raises(ConfigurationError, match=message):
        allennlp("transfer", small_archive, "--data", folder, option, value)


@pytest.mark.parametrize("arguments", [("--list-sentences",), ("no/model.tar.gz", "--output-file")])
def test_an_existing_file_is_not_overwritten(allennlp, folder, write, arguments):
    output = write("earlier figures", "a.json")
    with pytest.raises(ConfigurationError, match=r"a\.json exists already"):
        allennlp("transfer", *arguments, output, "--data", folder)
    assert output.read_text() == "earlier figures"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1, 2]", "expected a JSON object"),
        pytest.param(
            b"{'a': 1e\x80}",
            "not JSON",
            marks=pytest.mark.skipif(
                sys.version_info < (3, 11), reason="before, jsonnet's error has no message"
            ),
        ),
    ],
)
def test_a_file_that_describes_no_task(report, write, content, message):
    task = write(content, "task.json")
    with pytest.raises(ConfigurationError, match=f"--own-task.*{message}"):
        report("--word-vectors", "vectors.txt", "--own-task", task, data=())


@pytest.mark.parametrize("sentence", ["two\nlines", "a return\r"])
def test_a_sentence_of_several_lines_is_not_listed(allennlp, write, tmp_path, sentence):
    """`--vectors` would not find it."""
    train = write(f'text,label\n"{sentence}",x\none line,y\n', "own.csv")
    own = json.dumps({"train": str(train), "text": "text"})
    with pytest.raises(ConfigurationError, match=r"has a line end.* --list-sentences; replace"):
        allennlp("transfer", "--list-sentences", tmp_path / "s.txt", "--own-task", own)
    assert not (tmp_path / "s.txt").exists()


def test_own_tasks_alone_and_beside_the_ten(report, write, tmp_path, capsys):
    rows = "".join(f"{word} {i}\t{word}\n" for i in range(6) for word in ("good", "bad"))
    train = write("sentence\tlabel\n" + rows, "own.tsv")
    task = {
        "train": str(train),
        "text": "sentence",
        "name": "mine",
    }
    encoder = ["--word-vectors", write("good 1 0\nbad 0 1\n", "vectors.txt")]
    again = ["--own-task", write(json.dumps({**task, "name": "again"}), "task.json")]
    both = [*encoder, "--own-task", json.dumps(task), *again]
    expected = {"mine_accuracy": 1.0, "again_accuracy": 1.0}
    assert report(*both, data=())["metrics"] == expected
    assert "| mine | again |" in capsys.readouterr().out
    assert report(*both, "--tasks", "MR")["metrics"] == {"mr_accuracy": 1.0, **expected}
    for own in ([], ["--tasks", "MR", "--own-task", json.dumps(task)]):
        with pytest.raises(ConfigurationError, match="the ten tasks need --data"):
            report(*encoder, *own, data=())


def test_whole_sentences_of_sst(allennlp, folder, tmp_path):
    """Without the option, the task has the phrases of its trees, too."""
    listed = []
    for number, option in enumerate([[], ["--sst-sentences"]]):
        file = tmp_path / f"{number}.txt"
        data = ["--data", folder, "--tasks", "SST"]
        allennlp("transfer", "--list-sentences", file, *data, *option)
        listed.append(set(file.read_text().splitlines()))
    phrases, sentences = listed
    assert phrases - sentences == {"good", "bad"}
    assert sentences < phrases
