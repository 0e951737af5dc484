"""`allennlp compare` tells sets of archives from data, and hands its options on."""

import json

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch import comparison
from allennlp_sentmatch.comparison import compare_archives

REPORT = {
    "higher": ["a_1", "a_2", "a_3"],
    "lower": ["b_1", "b_2"],
    "metric": "accuracy",
    "items": 1725,
    "higher_mean": 0.7261,
    "lower_mean": 0.7304,
    "difference": -0.0043,
    "low": -0.036,
    "high": 0.024,
    "p": 0.74,
    "test": "bootstrap",
    "p_holm": 1.0,
    "smallest": 0.0412,
    "seeds_to_decide": 160,
}


@pytest.fixture
def called(monkeypatch):
    """The arguments of each call of `compare_archives`, which returns two reports."""
    calls = []

    def compare_archives(*arguments):
        calls.append(arguments)
        single = {
            **REPORT,
            "lower": ["c"],
            "p": 0.0312,
            "test": "McNemar",
            "p_holm": 0.0624,
        }
        return [REPORT, {**single, "seeds_to_decide": None}]

    monkeypatch.setattr(comparison, "compare_archives", compare_archives)
    return calls


def test_sets_and_then_the_data(allennlp, called, capsys):
    allennlp("compare", "a_1", "a_2", "--with", "b_1", "b_2", "--with", "c", "test.tsv")
    assert called == [(["a_1", "a_2"], [["b_1", "b_2"], ["c"]], "test.tsv", None, -1, False)]
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        "a_1 and 2 others against b_1 and 1 other: accuracy, 1725 items",
        "  72.6 against 73.0 %: -0.4, 95 % interval -3.6 to +2.4, p 0.74 (bootstrap), 1 by "
        "Holm's method for 2 comparisons",
        "  found in 4 of 5 cases: a difference of 4.1; this one would need 160 seeds of each",
        "",
        "a_1 and 2 others against c: accuracy, 1725 items",
        "  72.6 against 73.0 %: -0.4, 95 % interval -3.6 to +2.4, p 0.031 (McNemar), 0.062 by "
        "Holm's method for 2 comparisons",
        "  found in 4 of 5 cases: a difference of 4.1; how much other seeds differ is not known "
        "from one archive",
        "",
    ]


def test_every_option(allennlp, called, tmp_path):
    part = {"path": "train.tsv", "folds": {"number": 10, "keep": [0]}}
    allennlp(
        "compare", "a_1", "--metric", "rouge_l", "--output-file", tmp_path / "report.json",
        "--cuda-device", "0", "--trust-archive", "--with", "b_1", json.dumps(part),
    )  # fmt: skip
    assert called == [(["a_1"], [["b_1"]], part, "rouge_l", 0, True)]
    assert json.loads((tmp_path / "report.json").read_text())[0] == REPORT
    with pytest.raises(ConfigurationError, match=r"report\.json exists already"):
        allennlp("compare", "a_1", "--with", "b", "t", "--output-file", tmp_path / "report.json")


def test_the_data_are_missing(allennlp, called):
    with pytest.raises(ConfigurationError, match=r"after them the labeled data, .* got only b_1"):
        allennlp("compare", "a_1", "--with", "b_1")


def test_an_archive_has_no_difference_from_itself(
    allennlp, small_archive, fixtures, capsys, caplog
):
    data = fixtures / "quick_start" / "test.tsv"
    allennlp("compare", small_archive, "--with", small_archive, data)
    (report,) = compare_archives([small_archive], [[small_archive]], str(data))
    assert report["difference"] == 0
    assert report["p"] == 1
    assert report["test"] == "McNemar"
    assert f"accuracy, {report['items']} items" in capsys.readouterr().out
    assert "Encountered the loss key" not in caplog.text
