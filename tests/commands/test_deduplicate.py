import json

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch import PairClassifier

TEXTS = ["How do I pay?", "Who pays?", "How can I pay?", "I have 3 cards.", "I have 4 cards."]


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "s.txt").write_text("\n".join([*TEXTS, TEXTS[1]]) + "\n")
    return tmp_path / "s.txt"


def test_the_kept_sentences_and_the_reasons_are_written(allennlp, corpus, tmp_path, capsys):
    allennlp("deduplicate", corpus, tmp_path / "k.txt", "--report", tmp_path / "r.jsonl")
    assert (tmp_path / "k.txt").read_text().splitlines() == [*TEXTS[:2], *TEXTS[3:]]
    reasons = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [(one["position"], one["kept_position"]) for one in reasons] == [(2, 0), (5, 1)]
    assert reasons[0]["kept_text"] == TEXTS[0]
    assert reasons[0]["differing_words"] == [["can"], ["do"]]
    assert 0.9 < reasons[0]["score"] < reasons[1]["score"] == 1
    assert "k.txt: 4 of 6 sentences are kept" in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 3
    (tmp_path / "link").symlink_to(tmp_path / "w.txt")
    allennlp("deduplicate", corpus, tmp_path / "link", "--ignore-words", "--threshold", "0.8")
    assert (tmp_path / "w.txt").read_text().splitlines() == [*TEXTS[:2], TEXTS[3]]


def test_a_classifier_and_another_file(allennlp, corpus, tmp_path):
    pairs = [(TEXTS[0], TEXTS[2]), TEXTS[:2]] * 3
    PairClassifier().fit(pairs, ["same", "other"] * 3).save(tmp_path / "model")
    (tmp_path / "t.csv").write_text('id,text\n1,"How can I pay?"\n')
    (tmp_path / "c.csv").write_text("text\n" + "\n".join(TEXTS) + "\n")
    arguments = ["deduplicate", tmp_path / "c.csv", tmp_path / "k.txt", "--column", "text"]
    arguments += ["--classifier", tmp_path / "model", "--against", tmp_path / "t.csv"]
    with pytest.raises(ConfigurationError, match=r"label must be .* \['other', 'same'\]; got 1"):
        allennlp(*arguments)
    allennlp(*arguments, "--label", "same")
    assert (tmp_path / "k.txt").read_text().splitlines() == [TEXTS[1], *TEXTS[3:]]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a\n \nb\n", [], r"s\.txt, line 2: the sentence is blank; leave it out"),
        ("a\n" + "b" * 10_001, [], r"s\.txt, line 2: the sentence has 10,001 characters"),
        ("a\tb\n", [], r"s\.txt is a table, it seems; name the column"),
        ("a\n", ["--threshold", "2"], "threshold must be a number above 0 and at most 1, got 2.0"),
        ("a\n", ["--label", "x"], "label needs a classifier"),
        ("a\n", ["--report", "s.txt"], r"s\.txt exists already; delete it or name another file"),
        ("a\n", ["--report", "none/r.txt"], r"the folder of .*/none/r\.txt does not exist"),
        ("a\n", ["--report", "k.txt"], "the output and --report must be two files"),
        ('t,n\na,1\n\n"b\nc",2\n', ["--column", "t"], r"s\.txt, line 4: .*'b\\nc' has a line end"),
    ],
)
def test_impossible_input(allennlp, tmp_path, content, options, message):
    options = [tmp_path / one if one.endswith(".txt") else one for one in options]
    (tmp_path / "s.txt").write_text(content)
    with pytest.raises(ConfigurationError, match=message):
        allennlp("deduplicate", tmp_path / "s.txt", tmp_path / "k.txt", *options)
    assert [path.name for path in tmp_path.iterdir()] == ["s.txt"]
