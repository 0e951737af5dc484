"""The program `sentmatch`."""

import json
import subprocess
import sys

import numpy
import pytest

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.__main__ import COMMANDS, main
from allennlp_sentmatch.standalone import StandaloneEncoder
from tests.conftest import REPOSITORY

SENTENCES = ["How do I pay?", "Who pays?", "How can I pay?", "Two dogs run."]

HELP = """
import sys
from contextlib import suppress
from allennlp_sentmatch.__main__ import COMMANDS, main
for words in (["--help"], *([command.name, "--help"] for command in COMMANDS)):
    with suppress(SystemExit):
        main(words)
print(sorted({"allennlp", "numpy", "sklearn", "torch"} & set(sys.modules)))
"""


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "s.txt").write_text("\n".join(SENTENCES) + "\n")
    return tmp_path / "s.txt"


def run(*arguments: object) -> None:
    main(list(map(str, arguments)))


def test_describing_the_commands_imports_no_library():
    """Each of them takes more than a second to import."""
    program = [sys.executable, "-c", HELP]
    result = subprocess.run(
        program,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[-1] == "[]"
    for command in COMMANDS:
        assert f"usage: sentmatch {command.name} " in result.stdout
        assert f"For example: `sentmatch {command.name} " in " ".join(result.stdout.split())
    for default in ("(default = 128)", "(default = 8000)"):  # as in the help of `allennlp`
        assert default in result.stdout


def test_encode_search_and_deduplicate_with_the_package(corpus, tmp_path, capsys):
    run("encode", "package", corpus, tmp_path / "v.npy")
    expected = SentenceEncoder().encode(SENTENCES)
    numpy.testing.assert_allclose(numpy.load(tmp_path / "v.npy"), expected, atol=1e-6)

    pytest.importorskip("faiss")
    options = ["--query", "Somebody pays.", "--k", 2, "--output-file", tmp_path / "f.jsonl"]
    run("search", "package", corpus, tmp_path / "v.npy", *options)
    (found,) = map(json.loads, (tmp_path / "f.jsonl").read_text().splitlines())
    nearest = SentenceEncoder().search("Somebody pays.", SENTENCES, k=2)
    assert [one["position"] for one in found["neighbors"]] == [one.position for one in nearest]
    cosines = [one["cosine"] for one in found["neighbors"]]
    assert cosines == pytest.approx([one.cosine for one in nearest], abs=1e-5)

    capsys.readouterr()
    run("deduplicate", corpus, tmp_path / "k.txt", "--encoder", "package")
    assert "k.txt: 3 of 4 sentences are kept" in capsys.readouterr().out


def test_export_of_the_package(corpus, tmp_path):
    """An exported folder is a model, too."""
    run("export", "package", tmp_path / "exported")
    vectors = StandaloneEncoder.load(tmp_path / "exported").encode(SENTENCES)
    numpy.testing.assert_array_equal(vectors, SentenceEncoder().encode(SENTENCES))
    assert "license: apache-2.0" in (tmp_path / "exported" / "README.md").read_text()
    run("encode", tmp_path / "exported", corpus, tmp_path / "v.npy", "--batch-size", 2)
    numpy.testing.assert_allclose(numpy.load(tmp_path / "v.npy"), vectors, atol=1e-6)


def test_the_package_is_a_model_of_allennlp_s_commands(allennlp, corpus, tmp_path):
    allennlp("encode", "package", corpus, tmp_path / "v.npy")
    run("encode", "package", corpus, tmp_path / "w.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "w.npy").read_bytes()
    (tmp_path / "s.txt").write_text("\n".join([*SENTENCES, "A new one."]) + "\n")
    run("encode", "package", corpus, tmp_path / "v.npy", "--append")
    assert numpy.load(tmp_path / "v.npy").shape == (5, 384)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a\n\nb\n", ["package"], r"s\.txt, line 2: the sentence is blank; leave it out"),
        ("a\n" + "b" * 10_001, ["package"], r"s\.txt, line 2: the sentence has 10,001 characters"),
        ("a\n", ["none.tar.gz"], "encode: error: there is no file or folder none.tar.gz"),
        (
            "a\n",
            ["package", "--overrides", "{}"],
            "leave out --overrides, which",
        ),
        (
            "a\n",
            ["package", "--cuda-device", "0"],
            "leave out --cuda-device, which",
        ),
        ("a\n", ["package", "--batch-size", "0"], "batch_size must be"),
        ("a\n", ["package", "--ray-workers", "0"], "--ray-workers need --engine ray"),
        ("a\n", ["package", "--ray-address", "auto"], "--ray-workers need --engine ray"),
    ],
)
def test_mistakes_are_sentences(tmp_path, content, arguments, message):
    (tmp_path / "s.txt").write_text(content)
    model, *options = arguments
    with pytest.raises(SystemExit, match=f"^sentmatch encode: error: .*{message}|{message}"):
        run("encode", model, tmp_path / "s.txt", tmp_path / "v.npy", *options)
    assert not (tmp_path / "v.npy").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--trust-archive"], "leave out --trust-archive, which only"),
        (
            ["--overrides", "{}", "--cuda-device", "0"],
            "leave out --cuda-device and --overrides, which",
        ),
        (
            ["--predictor-args", '{"threshold": 0.8}'],
            "leave out --predictor and --predictor-args, which",
        ),
    ],
)
def test_only_archives_are_served_with_their_settings(options, message):
    with pytest.raises(SystemExit, match=f"^sentmatch serve: error: .*{message}"):
        run("serve", "package", *options)


def test_an_archive_without_allennlp(corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "allennlp.common.checks", None)
    (tmp_path / "model.tar.gz").write_bytes(b"")
    archive = tmp_path / "model.tar.gz"
    vectors = tmp_path / "v.npy"
    for words in (
        ["encode", archive, corpus, vectors],
        ["search", archive, corpus, vectors, "--query", "a"],
        ["deduplicate", corpus, tmp_path / "k.txt", "--encoder", archive],
        ["export", archive, tmp_path / "exported"],
        ["serve", archive],
    ):
        with pytest.raises(SystemExit, match=r"model\.tar\.gz is an archive of AllenNLP, which is"):
            run(*words)
