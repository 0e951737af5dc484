"""Claims are tested by the recorded figures, and only current seeds count."""

import json
import re
from pathlib import Path
from typing import Union

import pytest

from scripts.experiments import REPOSITORY
from scripts.results import check_claims
from scripts.results.tables import read_items, write_items

CLAIM = {
    "claim": "CAS-LSTM above BiLSTM",
    "source": "CAS-LSTM table 1",
    "data": "SICK",
}
CLAIM |= {"results": "sick.json", "metric": "accuracy"}
CLAIM |= {"higher": "sick/cas_lstm", "lower": "sick/bilstm"}
Seeds = dict[int, Union[str, float]]
"""For each seed, right and wrong answers as digits, or an accuracy without items' scores."""


def write(folder: Path, x: Seeds, y: Seeds) -> Path:
    """A file of a claim next to results with the scores of each item."""
    rows = []
    lines = []
    for name, seeds in ((CLAIM["higher"], x), (CLAIM["lower"], y)):
        row = {"configuration": name, "overrides": "{}"}
        accuracies = [s.count("1") / len(s) if isinstance(s, str) else s for s in seeds.values()]
        if seeds:
            metrics = {"accuracy": accuracies}
            rows.append({"model": name, **row, "metrics": metrics, "seeds": list(seeds)})
        scores = {seed: s for seed, s in seeds.items() if isinstance(s, str)}
        lines += [{**row, "seed": seed, "scores": s} for seed, s in scores.items()]
    (folder / "sick.json").write_text(json.dumps({"rows": rows}))
    write_items(folder / "sick.json", lines)
    path = folder / "claims.json"
    path.write_text(json.dumps({"claims": [CLAIM]}))
    return path


def digits(right: int) -> str:
    """The scores of 100 items."""
    return "1" * right + "0" * (100 - right)


def three(right: str) -> Seeds:
    """The same scores for three seeds."""
    return dict.fromkeys(range(3), digits(int(right)))


NO_SCORES = "not tested: the items' scores were not recorded"
NO_SEED = "not tested: the rows have no seed in common"


@pytest.mark.parametrize(
    ("higher", "lower", "difference", "seeds", "holds"),
    [
        (three("50"), three("90"), "-40.0 ± 0.0", "0, 1, 2", "no"),
        ({0: digits(50), 1: digits(50)}, three("90"), "-40.0 ± 0.0", "0, 1 (without 2)", "open"),
        ({0: "10" * 50}, {0: "01" * 50}, "+0.0", "0", "open"),
        # Scores of different seeds give no interval; only one row has seed 2.
        ({0: 0.5, 1: "1", 2: "1"}, {0: "0", 1: 0.5}, "+50.0 ± 50.0", "0, 1 (without 2)", NO_SCORES),
        ({0: 0.5}, {0: 0.5}, "+0.0", "0", NO_SCORES),
        ({0: "10"}, {7: "01"}, None, None, NO_SEED),
        ({0: "10"}, {}, None, None, "missing: sick/bilstm"),
    ],
)
def test_a_claim_that_does_not_hold(tmp_path: Path, higher, lower, difference, seeds, holds):
    (record,) = check_claims.check(write(tmp_path, higher, lower))
    found = tuple(map(record.get, ("difference", "seeds", "holds")))
    assert found == (difference, seeds, holds)
    assert ("interval" in record) == (holds in ("no", "open"))


@pytest.mark.parametrize(
    ("higher", "lower", "expected", "variance"),
    [
        # 20 items differ by 1: a variance of .16 / 100. The seeds are equal.
        (
            three("70"),
            three("50"),
            ("70.0 ± 0.0", "50.0 ± 0.0", "+20.0 ± 0.0", "0, 1, 2", "yes"),
            16,
        ),
        # Seed 0, without scores of X, would make X - Y +1. The variance of the mean of three draws
        # from the seeds of X is (15^2 + 5^2 + 20^2) / 3 / 3. Of the items' mean differences, 15 are
        # -1/3, 10 are 2/3 and 10 are 1/3: a variance of .0697 / 100.
        (
            {0: 1.0, 1: digits(65), 2: digits(55), 3: digits(30), 4: 0.0},
            {0: digits(0), 1: digits(45), 2: digits(45), 3: digits(45)},
            ("50.0 ± 18.0", "45.0 ± 0.0", "+5.0 ± 18.0", "1, 2, 3 (without 0, 4)", "open"),
            650 / 9 + 6.97,
        ),
    ],
)
def test_a_difference_with_its_spread_and_interval(tmp_path, higher, lower, expected, variance):
    """The interval is about as wide as the standard error over items and seeds makes it."""
    (record,) = check_claims.check(write(tmp_path, higher, lower))
    keys = ("higher", "lower", "difference", "seeds", "holds")
    assert tuple(record[key] for key in keys) == expected
    mean = float(record["difference"].split()[0])
    low, high = (float(bound) for bound in record["interval"].split(" to "))
    error = variance**0.5
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.2)
    assert low < mean < high


def test_seeds_that_are_outdated_do_not_count(tmp_path: Path):
    path = write(tmp_path, three("90"), {**three("50"), 3: digits(99)})
    results = json.loads((tmp_path / "sick.json").read_text())
    results["rows"][1]["outdated"] = {"3": "another optimizer"}
    (tmp_path / "sick.json").write_text(json.dumps(results))
    (record,) = check_claims.check(path)
    assert record["seeds"] == "0, 1, 2"
    assert record["lower"] == "50.0 ± 0.0"
    results["rows"][1]["outdated"] = dict.fromkeys("0123", "another optimizer")
    (tmp_path / "sick.json").write_text(json.dumps(results))
    (record,) = check_claims.check(path)
    assert record["holds"] == "missing: sick/bilstm"


def test_the_power_and_the_p_of_tested_claims(tmp_path: Path):
    """Three claims with three seeds, of which the p of the clear ones is the smallest there is."""
    path = write(tmp_path, three("70"), three("50"))
    claims = json.loads(path.read_text())["claims"]
    same = {**CLAIM, "lower": CLAIM["higher"]}
    path.write_text(json.dumps({"claims": [*claims, same, *claims]}))
    clear, open_claim, _ = check_claims.check(path)
    # The variance of the difference is .16 / 100 over the items; the seeds have none.
    assert float(clear["smallest"]) == pytest.approx(2.8 * 4, rel=0.05)
    assert float(clear["p_holm"]) == pytest.approx(3 * 2 / 10_001, rel=0.02)
    assert "needed" not in clear
    assert {key: open_claim[key] for key in ("holds", "needed", "p_holm")} == {
        "holds": "open",
        "needed": "more items",
        "p_holm": "1",
    }


def test_published_figures_are_compared(tmp_path: Path, monkeypatch):
    texts = {"sick/cas_lstm": "87.5 %", "sick/bilstm": "86.25 %"}
    monkeypatch.setattr(check_claims, "published", lambda row: texts[row["configuration"]])
    path = write(tmp_path, three("70"), three("50"))
    assert check_claims.check(path)[0]["published"] == "+1.2"
    texts["sick/bilstm"] = "0.86 to 0.91"
    assert "published" not in check_claims.check(path)[0]


def test_a_source_may_compare_with_another_model(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(check_claims, "published", lambda row: "87.5 %")
    path = write(tmp_path, three("70"), three("50"))
    path.write_text(json.dumps({"claims": [{**CLAIM, "published": "+3.9"}]}))
    assert check_claims.check(path)[0]["published"] == "+3.9"


def test_scores_of_other_runs_are_an_error(tmp_path: Path):
    path = write(tmp_path, {0: "10"}, {0: "01"})
    first, second = read_items(tmp_path / "sick.json")
    write_items(tmp_path / "sick.json", [first, {**second, "scores": "00"}])
    with pytest.raises(ValueError, match=r"bilstm with seed 0 make 0\.0000, .* is 0\.5"):
        check_claims.check(path)


CLAIMS = REPOSITORY / "docs" / "results" / "claims.json"


def test_the_records_of_the_documentation_are_up_to_date():
    """All but the intervals: a bootstrap would take too long here."""
    records = json.loads(CLAIMS.read_text())["records"]
    made = check_claims.check(CLAIMS, bootstrapped=False)
    remedy = "run python -m scripts.results.check_claims docs/results/claims.json"
    assert len(records) == len(made), remedy
    for record, expected in zip(records, made):
        if "holds" not in expected:
            assert {"interval", "holds"} <= set(record), remedy
            low, high = (float(bound) for bound in record.pop("interval").split(" to "))
            assert low <= float(record["difference"].split()[0]) <= high, remedy
            for key in ("holds", "p_holm", "smallest", "needed"):
                record.pop(key, None)
        assert record == expected, remedy


def test_the_findings_have_the_figures_of_the_claims():
    page = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
    findings = page.partition("## What was found")[2].partition("\n## ")[0]
    figure = r"[+-]\d+\.\d"
    found = set(re.findall(figure, findings))
    assert len(found) > 20
    records = json.loads(CLAIMS.read_text())["records"]
    keys = ("difference", "interval", "published")
    texts = [record.get(key, "") for record in records for key in keys]
    assert found <= set(re.findall(figure, " ".join(texts)))


def test_the_claims_of_the_documentation_are_about_configurations():
    claims = json.loads(CLAIMS.read_text())["claims"]
    for name in {claim[side] for claim in claims for side in ("higher", "lower")}:
        path = REPOSITORY / "training_config" / f"{name}.jsonnet"
        assert path.exists() or "/" not in name, name
