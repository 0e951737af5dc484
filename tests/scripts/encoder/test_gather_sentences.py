"""The gathered sentences have no repetition and no sentence of a test set."""

import json
import os
import signal
import subprocess
import sys

import pytest

from scripts.encoder import gather_sentences
from scripts.encoder.data_sets import DataSet
from scripts.encoder.gather_sentences import Collection, add_texts
from scripts.encoder.text_sources import key
from tests.scripts.encoder.conftest import source

pytestmark = pytest.mark.slow  # the program made the package's encoder once


def test_test_sentences_and_repetitions_are_left_out():
    collection = Collection({key("one dog is")})
    first = ["One dog is .", "A cat  is.", "a cat is", "Page 1 of 2.", "...", "word " * 61, "Two b"]
    assert collection.add("a", first) == 2
    assert collection.add("b", ["A CAT IS", "It rains now.", "Page 33 of 4."]) == 1
    assert collection.add("c", [f"It is {word} now." for word in ("a", "b", "c")], limit=2) == 2
    assert collection.add("d", ["This has five words here.", "And four words here."], words=4) == 1
    assert collection.of("ab") == ["A cat is.", "Page 1 of 2.", "It rains now."]
    assert collection.of("cd", limit=1) == ["It is a now.", "And four words here."]
    assert collection.left_out == {"a": 1}


def test_small_sources_leave_their_share_to_others(monkeypatch):
    sources = [
        source("x"),
        source("y"),
        source("z"),
        source("n", "news"),
    ]
    texts = {one.name: [f"{one.name} is {word} here." for word in "abcdefghij"] for one in sources}
    texts["z"] = texts["z"][:1]
    monkeypatch.setattr(gather_sentences, "SOURCES", sources)
    monkeypatch.setattr(gather_sentences, "LIMITS", {"help": 9})
    collection = Collection(set())
    assert add_texts(collection, texts) == {"help": ["x", "y", "z"], "news": ["n"]}
    numbers = {name: len(sentences) for name, sentences in collection.sentences.items()}
    assert numbers == {"z": 1, "x": 4, "y": 4, "n": 10}


CAPTION = "A {} is chasing a pony in the big park."
QUESTION = "Where is the {} in this place?"


@pytest.fixture
def small(tmp_path, monkeypatch, wordnet):
    """Data sets and free texts of a few sentences each, and the script's arguments."""
    words = ["man", "woman", "boy", "girl", "nurse", "poet", "king", "queen", "baker", "cook"]

    def made(form, copyleft=False):
        return DataSet("", lambda _: map(form.format, words), "CC0", copyleft)

    free = {name: made(f"{name} {CAPTION}") for name in gather_sentences.FREE}
    free["SNLI dev"] = made(CAPTION, copyleft=True)
    free["STS-B train"] = made("The two {}s are in the park.")
    restricted = {name: made("The {} was quiet.") for name in gather_sentences.RESTRICTED}
    tests = {"t": made("A man is chasing a pony in the big park.")}
    names = [*gather_sentences.QUESTIONS[1:], *gather_sentences.CAPTIONS[4:]]
    sources = [source("WordNet", package="wordnet", prose=False), source("e", "everyday")]
    sources += [source(name, "queries") for name in names]
    folder = tmp_path / "texts" / "sources"
    for one in sources:
        (folder / one.file_name).mkdir(parents=True)
        asked = [f"{one.name.capitalize()} asks: {QUESTION.format(word)}" for word in words]
        (folder / one.file_name / "a.txt").write_text("\n\n".join(asked))
    (folder / "WordNet/usr/share").mkdir(parents=True)
    wordnet.rename(folder / "WordNet/usr/share/wordnet")
    settings = {
        "FREE": free,
        "RESTRICTED": restricted,
        "TEST": tests,
        "SOURCES": sources,
    }
    for name, value in {**settings, "RECOMBINED": 50, "LIMIT": 120}.items():
        monkeypatch.setattr(gather_sentences, name, value)
    output = tmp_path / "out" / "sentences.txt"
    arguments = ["", str(tmp_path), str(tmp_path / "texts"), str(output), "--restricted"]
    monkeypatch.setattr(sys, "argv", arguments)
    return output


def test_all_of_it(small, capsys):
    gather_sentences.main()
    lines = small.read_text().splitlines()
    report = json.loads(small.with_name("sources.json").read_text())
    assert len({key(line) for line in lines}) == 120
    assert len(lines) == 120
    assert report["sentences"] == 120
    assert key(CAPTION.format("man")) not in map(key, lines)
    assert report["overlap_with_test_sets"] == 0
    assert report["left_out_as_test_sentences"]["SNLI dev"] == 1
    assert sum(row["sentences"] for row in report["sources"]) == 120
    assert {"source", "kind", "licence", "copyleft", "sentences", "sha256"} < set(
        report["sources"][-4]
    )
    copyleft = [lines[int(i)] for i in small.with_name("copyleft.txt").read_text().split()]
    assert len(copyleft) == report["copyleft"]
    captions = {CAPTION.format(word) for word in ("woman", "boy", "girl")} & set(lines)
    assert captions <= set(copyleft)
    assert len(small.with_name("restricted.txt").read_text().splitlines()) == 10
    assert not any("was quiet" in line for line in lines)
    gather_sentences.main()
    assert small.read_text().splitlines() == lines


def test_a_text_without_sentences_is_an_error(small):
    next(small.parents[1].glob("texts/sources/Taskmaster/a.txt")).write_text("12 34")
    with pytest.raises(SystemExit, match=r"^gather_sentences: Taskmaster: .* has no sentences"):
        gather_sentences.main()


def test_a_test_sentence_among_them_is_an_error(small, monkeypatch):
    monkeypatch.setattr(gather_sentences.Collection, "add", lambda self, name, sentences, *a, **k: (
        self.sentences.update({name: list(sentences)}) or 0
    ))  # fmt: skip
    monkeypatch.setattr(gather_sentences, "add_made", lambda *_: {})
    monkeypatch.setattr(gather_sentences, "LIMIT", 999)
    with pytest.raises(SystemExit, match=r"^gather_sentences: there are test sentences .*'t': 1"):
        gather_sentences.main()
    assert not small.parent.exists()


def test_missing_data(monkeypatch, tmp_path):
    monkeypatch.setattr(
        sys, "argv", ["", *(str(tmp_path / name) for name in ("missing", "b", "o"))]
    )
    with pytest.raises(SystemExit, match=r"^gather_sentences: .*SICK_trial\.txt"):
        gather_sentences.main()


WORKERS = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from scripts.encoder.gather_sentences import end_with_parent
with ProcessPoolExecutor(2, initializer=end_with_parent) as pool:
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 600).result()
"""


def test_a_killed_script_leaves_no_process():
    with subprocess.Popen([sys.executable, "-c", WORKERS], stdout=subprocess.PIPE) as script:
        worker = int(script.stdout.readline())
        script.kill()
        try:  # the pipe closes when its last process has ended
            assert script.communicate(timeout=60)[0] == b""
        except subprocess.TimeoutExpired:
            os.kill(worker, signal.SIGKILL)
            raise
