import json
import sys

from scripts.encoder import gather_sentences
from scripts.encoder.gather_sentences import TRAINING, gather, key


def test_sentences_are_compared_by_letters_and_digits():
    assert key("It 's a DOG, isn't it?") == key("it's a dog , isn 't it") != key("It is a dog")


def test_test_sentences_and_repetitions_are_left_out():
    training = {
        "a": ["One dog .", "A cat.", "a cat", "Two  birds", "...", "word " * 61],
        "b": ["A CAT", "It rains.", "Snow"],
    }
    tests = {"t": {key("one dog")}, "u": {key("Snow!"), key("one dog")}, "v": set()}
    sentences, numbers = gather(training, tests, limit=10, seed=0)
    assert sorted(sentences) == ["A cat.", "It rains.", "Two birds"]
    assert numbers == {
        "taken": {"a": 2, "b": 1},
        "distinct": {"a": 2, "b": 1},
        "in_test_sets": {"t": 1, "u": 2, "v": 0},
    }


def test_no_sentence_of_a_test_set_is_written(shared_data, tmp_path, monkeypatch):
    output = tmp_path / "sentences.txt"
    names = {"SICK train", "STS-B train", "TREC train"}
    some = {name: source for name, source in TRAINING.items() if name in names}
    monkeypatch.setattr(gather_sentences, "TRAINING", some)
    monkeypatch.setattr(sys, "argv", ["", str(shared_data), str(output), "--limit", "9000"])
    gather_sentences.main()
    report = json.loads(output.with_suffix(".json").read_text())
    assert report["sentences"] == len(output.read_text().splitlines()) == 9000
    assert report["in_test_sets"]["SICK test"] > 3000
    assert set(report["overlap_with_test_sets"].values()) == {0}
    ours = {key(line) for line in output.read_text().splitlines()}
    rows = (shared_data / "stsb" / "sts-test.csv").read_text().splitlines()
    assert not ours & {key(sentence) for row in rows for sentence in row.split("\t")[5:7]}
