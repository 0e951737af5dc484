"""Translations are compared by the seeds that both systems have."""

import math

import pytest
import sacrebleu

from scripts.results import compare_translations

REFERENCES = [f"a {x} dog runs over the {y} grass ." for x in "abc" for y in range(10)]
GOOD = [line.replace("over", "across") if i % 9 == 0 else line for i, line in enumerate(REFERENCES)]
BAD = [line.replace("runs over", "is on") if i % 3 else line for i, line in enumerate(REFERENCES)]


def compare(higher, lower, seeds=("123", "123")):
    """A file of translations for some seeds."""
    systems = (dict(zip(*named)) for named in zip(seeds, (higher, lower)))
    return compare_translations.compare(
        ("X", "Y"),
        *systems,
        REFERENCES,
        lowercase=False,
    )


def bleu(translations):
    return sacrebleu.corpus_bleu(translations, [REFERENCES]).score


def test_pairs_of_seeds_and_their_means():
    records, signature = compare([GOOD, REFERENCES], [BAD, GOOD])
    assert [record["seeds"] for record in records] == ["1", "2", "all"]
    figures = f"{bleu(GOOD):.2f}", f"{bleu(BAD):.2f}", f"{bleu(GOOD) - bleu(BAD):+.2f}"
    assert tuple(records[0][key] for key in ("bleu_higher", "bleu_lower", "difference")) == figures
    means = (100 + bleu(GOOD)) / 2, (bleu(GOOD) + bleu(BAD)) / 2
    spread = (100 - bleu(GOOD)) / 2**0.5
    assert records[2]["bleu_higher"] == f"{means[0]:.2f} ± {spread:.2f}"
    assert records[2]["difference"] == f"{means[0] - means[1]:+.2f}"
    # With two seeds, Student's t has one degree of freedom, which is Cauchy's distribution.
    differences = [bleu(GOOD) - bleu(BAD), 100 - bleu(GOOD)]
    t = sum(differences) / abs(differences[0] - differences[1])
    assert records[2]["t_test"] == f"{0.5 - math.atan(t) / math.pi:.2g}"
    assert [record["t_test"] for record in compare([BAD, GOOD], [BAD, GOOD])[0][2:]] == [""]
    assert "bs:1000" in signature
    assert "case:mixed" in signature


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
    figures = [(x["seeds"], x["bleu_higher"], x["bleu_lower"]) for x in records[:-1]]
    good, bad = (f"{bleu(system):.2f}" for system in (GOOD, BAD))
    assert figures == [("2", bad, good), ("3", good, bad)]
    assert records[-1]["seeds"] == "all"
    with pytest.raises(ValueError, match="X and Y have no seed in common"):
        compare([GOOD], [BAD], seeds="12")
