"""A progress bar appears if it is wanted, and counts each step once."""

import sys

import pytest

from allennlp_sentmatch import PairClassifier, find_duplicates
from allennlp_sentmatch.files import progress
from allennlp_sentmatch.files.progress import progress_bar
from tests.estimators.tiny_encoder import LABELS, PAIRS, SENTENCES, tiny_encoder


def run(is_shown):
    with progress_bar(3, "counting", " things", is_shown) as bar:
        bar.update(3)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_is_shown_if_it_is_asked_for(capsys, monkeypatch, is_terminal):
    monkeypatch.setattr(
        sys.stderr,
        "isatty",
        lambda: is_terminal,
        raising=False,
    )
    run(True)
    assert "counting: 100%" in capsys.readouterr().err
    run(False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("is_terminal", "seconds"),
    [
        (True, 0),
        (True, 100),
        (False, 0),
    ],
)
def test_by_default_it_appears_on_a_terminal_after_some_seconds(
    capsys, monkeypatch, is_terminal, seconds
):
    monkeypatch.setattr(
        sys.stderr,
        "isatty",
        lambda: is_terminal,
        raising=False,
    )
    monkeypatch.setattr(progress, "SECONDS_WITHOUT_BAR", seconds)
    run(None)
    assert ("counting" in capsys.readouterr().err) == (is_terminal and not seconds)


def test_work_goes_on_without_tqdm(monkeypatch):
    monkeypatch.setattr(
        sys.stderr,
        "isatty",
        lambda: True,
        raising=False,
    )
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    run(None)


def test_an_encoder_counts_its_sentences(capsys):
    tiny_encoder().encode(SENTENCES, batch_size=4, show_progress_bar=True)
    assert "encoding: 100%" in capsys.readouterr().err
    tiny_encoder().encode(SENTENCES)
    assert capsys.readouterr().err == ""


def test_each_step_of_long_work_counts_once(capsys):
    find_duplicates(SENTENCES, encoder=tiny_encoder(), show_progress_bar=True)
    shown = capsys.readouterr().err
    assert "encoding: 100%" in shown
    assert "comparing: 100%" in shown
    assert shown.count("encoding:   0%") == 1
    classifier = PairClassifier(tiny_encoder(), l2=0.1)
    classifier.fit(PAIRS, LABELS, show_progress_bar=True)
    assert "encoding: 100%" in capsys.readouterr().err
    classifier.fit(PAIRS, LABELS)
    find_duplicates(SENTENCES, encoder=tiny_encoder())
    assert capsys.readouterr().err == ""
