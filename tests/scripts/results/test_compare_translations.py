"""Translations are compared by the seeds that both systems have."""

import math

import pytest
import sacrebleu

from scripts.results import compare_translations

REFERENCES = [f"a {x} dog runs over the {y} grass ." for x in "abc" for y in range(10)]


def with_changes(old, new, changes_line):
    """Return the references with some words replaced in the lines of these numbers."""
    lines = []
    for number, line in enumerate(REFERENCES):
        lines.append(line.replace(old, new) if changes_line(number) else line)
    return lines


GOOD = with_changes("over", "across", lambda number: number % 9 == 0)
BAD = with_changes("runs over", "is on", lambda number: number % 3 != 0)


def compare(higher, lower, seeds=("123", "123")):
    """Return the comparison of two systems' translations for some seeds."""
    return compare_translations.compare(
        ("X", "Y"),
        dict(zip(seeds[0], higher)),
        dict(zip(seeds[1], lower)),
        REFERENCES,
        lowercase=False,
    )


def bleu(translations):
    return sacrebleu.corpus_bleu(translations, [REFERENCES]).score


@pytest.fixture(scope="module")
def compared():
    return compare([GOOD, REFERENCES], [BAD, GOOD])


def test_pairs_of_seeds(compared):
    records, signature = compared
    assert [record["seeds"] for record in records] == ["1", "2", "all"]
    assert records[0]["bleu_higher"] == f"{bleu(GOOD):.2f}"
    assert records[0]["bleu_lower"] == f"{bleu(BAD):.2f}"
    assert records[0]["difference"] == f"{bleu(GOOD) - bleu(BAD):+.2f}"
    assert "bs:1000" in signature
    assert "case:mixed" in signature


def test_means_of_seeds(compared):
    of_all = compared[0][2]
    mean_of_higher = (100 + bleu(GOOD)) / 2
    mean_of_lower = (bleu(GOOD) + bleu(BAD)) / 2
    spread = (100 - bleu(GOOD)) / 2**0.5
    assert of_all["bleu_higher"] == f"{mean_of_higher:.2f} ± {spread:.2f}"
    assert of_all["difference"] == f"{mean_of_higher - mean_of_lower:+.2f}"


def test_student_s_t(compared):
    """With two seeds, it has one degree of freedom, which is Cauchy's distribution."""
    first = bleu(GOOD) - bleu(BAD)
    second = 100 - bleu(GOOD)
    t = (first + second) / abs(first - second)
    p = 0.5 - math.atan(t) / math.pi
    assert compared[0][2]["t_test"] == f"{p:.2g}"


def test_equal_systems_have_no_t():
    (*_, of_all), _ = compare([BAD, GOOD], [BAD, GOOD])
    assert of_all["seeds"] == "all"
    assert of_all["t_test"] == ""


@pytest.mark.parametrize(
    ("higher", "lower", "better"),
    [
        ([GOOD, REFERENCES], [BAD, BAD], ["yes", "yes", "yes"]),
        ([BAD, BAD], [GOOD, REFERENCES], ["no", "no", "no"]),
        ([GOOD, BAD], [BAD, GOOD], ["yes", "no", "open"]),
        ([GOOD, GOOD], [BAD, GOOD], ["yes", "open", "open"]),  # equal translations
    ],
)
def test_all_pairs_must_agree(higher, lower, better):
    records, _ = compare(higher, lower)
    assert [record["better"] for record in records] == better


def test_seeds_that_both_have():
    records, _ = compare([REFERENCES, BAD, GOOD], [BAD, GOOD, REFERENCES], seeds=("123", "324"))
    good = f"{bleu(GOOD):.2f}"
    bad = f"{bleu(BAD):.2f}"
    keys = ("seeds", "bleu_higher", "bleu_lower")
    of_two, of_three, of_all = records
    assert [of_two[key] for key in keys] == ["2", bad, good]
    assert [of_three[key] for key in keys] == ["3", good, bad]
    assert of_all["seeds"] == "all"


def test_no_seed_in_common():
    with pytest.raises(ValueError, match="X and Y have no seed in common"):
        compare([GOOD], [BAD], seeds="12")
