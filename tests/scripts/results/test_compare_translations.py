import json
import math
import sys

import pytest
import sacrebleu
from allennlp.commands.train import train_model_from_file
from allennlp.predictors import Predictor

from scripts.results import compare_translations, fill_tables

REFERENCES = [
    f"a {x} dog runs over the {y} grass ." for x in ["big", "old", "red"] for y in "0123456789"
]
GOOD = [line.replace("over", "across") if i % 9 == 0 else line for i, line in enumerate(REFERENCES)]
BAD = [line.replace("runs over", "is on") if i % 3 else line for i, line in enumerate(REFERENCES)]


def compare(higher, lower, seeds=("123", "123")):
    """Of lists of translations for some seeds."""
    systems = (dict(zip(*named)) for named in zip(seeds, (higher, lower)))
    return compare_translations.compare(("X", "Y"), *systems, REFERENCES, lowercase=False)


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
    # With two seeds, Student's t has one degree of freedom: it is Cauchy's distribution.
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


def test_an_archive_and_a_file_of_translations(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(repository)
    archive = tmp_path / "model" / "model.tar.gz"
    train_model_from_file("fixtures/models/encoder_decoder.jsonnet", archive.parent)
    (tmp_path / "other.txt").write_text("The dog runs.\n" * 8)
    path = tmp_path / "comparison.json"
    comparison = {
        "data": "fixtures/data/parallel.{de,en}",
        "overrides": {"model.beam_search.max_steps": 3},
        "lowercase": True,
        "systems": {"A": {"1": str(archive)}, "B": {"1": str(tmp_path / "other.txt")}},
        "comparisons": [{"higher": "B", "lower": "A"}],
    }
    path.write_text(json.dumps(comparison))
    monkeypatch.setattr(sys, "argv", ["compare_translations.py", str(path)])
    compare_translations.main()
    written = archive.parent / "translations_parallel.txt"
    sources = (repository / "fixtures/data/parallel.de").read_text(encoding="utf-8").splitlines()
    predictor = Predictor.from_path(str(archive), overrides={"model.beam_search.max_steps": 3})
    expected = [predictor.predict_json({"source": source})["target"] for source in sources]
    assert max(len(line.split()) for line in expected) == 3
    assert written.read_text().split("\n")[:-1] == expected
    comparison = json.loads(path.read_text())
    assert "case:lc" in comparison["signature"]
    (table,) = fill_tables.measured_blocks(comparison)
    assert "| B | A | 1 | " in table
    assert "X: B, Y: A, seeds: 1, BLEU of X: " in capsys.readouterr().out

    written.write_text("A file is not made twice.\n")
    with pytest.raises(ValueError, match=r"parallel\.txt has 1 lines, but .* has 8 pairs"):
        compare_translations.main()
