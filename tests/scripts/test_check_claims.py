import json
import math
from pathlib import Path

import numpy
import pytest
from scipy.stats import pearsonr

from scripts import check_claims

CLAIM = {
    "claim": "CAS-LSTM above BiLSTM",
    "source": "CAS-LSTM table 1",
    "data": "SICK",
    "results": "sick.json",
    "metric": "accuracy",
    "higher": "sick/cas_lstm",
    "lower": "sick/bilstm",
}
OTHER = '"configuration": "sick/cas_lstm", "overrides": "{ num_layers: 3 }"'


def write(folder: Path, higher: list[str], lower: list[str], claim: dict = CLAIM) -> Path:
    """A file of claims next to results with the scores of each item, a string for each seed."""
    rows, lines = [], []
    for name, seeds in ((claim["higher"], higher), (claim["lower"], lower)):
        if seeds:
            accuracy = [scores.count("1") / len(scores) for scores in seeds]
            row = {"model": name, "configuration": name, "overrides": "{}"}
            metrics = {"accuracy": accuracy}
            rows.append({**row, "metrics": metrics, "seeds": list(range(len(seeds)))})
            lines += [
                {"configuration": name, "overrides": "{}", "seed": seed, "scores": scores}
                for seed, scores in enumerate(seeds)
            ]
    (folder / "sick.json").write_text(json.dumps({"rows": rows}))
    (folder / "items").mkdir()
    (folder / "items" / "sick.jsonl").write_text("\n".join(map(json.dumps, lines)))
    path = folder / "claims.json"
    path.write_text(json.dumps({"claims": [claim]}))
    return path


def test_a_difference_with_its_spread_and_interval(tmp_path: Path):
    # 60 and 70 %, and 50 and 50 %, of 100 items; the standard deviations are 7.07 and 0.
    path = write(tmp_path, ["1" * 60 + "0" * 40, "1" * 70 + "0" * 30], ["1" * 50 + "0" * 50] * 2)
    (record,) = check_claims.check(path)
    assert record["higher"] == "65.0 ± 7.1"
    assert record["lower"] == "50.0 ± 0.0"
    assert record["difference"] == "+15.0 ± 7.1"
    assert record["seeds"] == "0, 1"
    # Of the items, 10 differ by 1 and 10 by 0.5: the mean's standard error is 0.0332.
    low, high = (float(bound) for bound in record["interval"].split(" to "))
    assert low == pytest.approx(15 - 1.96 * 3.32, abs=0.8)
    assert high == pytest.approx(15 + 1.96 * 3.32, abs=0.8)
    assert record["holds"] == "yes"


@pytest.mark.parametrize(
    ("higher", "lower", "holds"),
    [
        ("1" * 50 + "0" * 50, "1" * 90 + "0" * 10, "no"),
        ("10" * 50, "01" * 50, "open"),
    ],
)
def test_a_claim_that_does_not_hold_or_is_open(tmp_path: Path, higher, lower, holds):
    (record,) = check_claims.check(write(tmp_path, [higher], [lower]))
    assert record["holds"] == holds
    assert "±" not in record["difference"]


def test_the_bootstrap_is_paired():
    """The same differences everywhere have no spread, however much the items differ."""
    items = numpy.arange(20.0).reshape(1, 20, 1) / 20
    assert check_claims.interval(items + 0.1, items) == pytest.approx((0.1, 0.1))


def test_the_interval_of_correlations():
    """Fisher's: the inverse hyperbolic tangent of r has the standard error 1 / sqrt(n - 3)."""
    generator = numpy.random.default_rng(0)
    true = generator.normal(size=(1, 400))
    predicted = 0.8 * true + 0.6 * generator.normal(size=(2, 400))  # two seeds
    higher = numpy.stack([predicted, true.repeat(2, axis=0)], axis=-1)  # (2, 400, 2)
    r = pearsonr(predicted[0], true[0])[0]
    assert check_claims.figure_of(higher) == pytest.approx(
        [r, pearsonr(predicted[1], true[0])[0]], abs=1e-12
    )
    # The lower row predicts its true scores, so that the interval is that of the higher row.
    lower = numpy.stack([true, true], axis=-1)  # (1, 400, 2)
    low, high = check_claims.interval(higher[:1], lower)
    error = 1.96 / math.sqrt(397)
    assert low == pytest.approx(math.tanh(math.atanh(r) - error) - 1, abs=0.015)
    assert high == pytest.approx(math.tanh(math.atanh(r) + error) - 1, abs=0.015)


def test_the_seeds_of_a_correlation_are_averaged():
    """Predictions in the opposite order have the opposite correlation."""
    true = numpy.random.default_rng(0).normal(size=50)
    higher = numpy.stack([numpy.stack([sign * true, true], axis=-1) for sign in (1, -1)])
    lower = numpy.stack([true, true], axis=-1)[None]  # (1, 50, 2)
    assert check_claims.interval(higher, lower) == pytest.approx((-1, -1))


def without(folder: Path, *missing: tuple[str, int]) -> None:
    """Remove the lines of these configurations' seeds from the scores of items."""
    items = folder / "items" / "sick.jsonl"
    lines = map(json.loads, items.read_text().splitlines())
    kept = [line for line in lines if (line["configuration"], line["seed"]) not in missing]
    items.write_text("\n".join(map(json.dumps, kept)))


def test_a_line_is_about_the_seeds_with_scores_in_both_rows(tmp_path: Path):
    """Seed 0, without scores of X, would make X - Y +1 and the claim hold."""
    higher = ["1" * 100, "1" * 45 + "0" * 55, "1" * 35 + "0" * 65, "1" * 100]
    lower = ["0" * 100, "1" * 45 + "0" * 55, "1" * 45 + "0" * 55, "0" * 100]
    path = write(tmp_path, higher, lower)
    without(tmp_path, (CLAIM["higher"], 0), (CLAIM["lower"], 3))
    (record,) = check_claims.check(path)
    assert record["seeds"] == "1, 2 (without 0, 3)"
    assert record["higher"] == "40.0 ± 7.1"
    assert record["lower"] == "45.0 ± 0.0"
    assert record["difference"] == "-5.0 ± 7.1"
    # Of the items, 10 differ by 0.5: the mean's standard error is 0.015.
    low, high = (float(bound) for bound in record["interval"].split(" to "))
    assert low == pytest.approx(-5 - 1.96 * 1.5, abs=0.6)
    assert high == pytest.approx(-5 + 1.96 * 1.5, abs=0.6)
    assert record["holds"] == "no"


def test_seeds_without_scores_in_both_rows(tmp_path: Path):
    """The scores of different seeds do not make an interval; seed 2 is one row's alone."""
    path = write(tmp_path, ["10", "11", "11"], ["00", "10"])
    without(tmp_path, (CLAIM["higher"], 0), (CLAIM["lower"], 1))
    (record,) = check_claims.check(path)
    assert record["seeds"] == "0, 1 (without 2)"
    assert record["difference"] == "+50.0 ± 50.0"
    assert record["holds"].startswith("not tested: the items")
    assert "interval" not in record


def test_rows_without_a_common_seed(tmp_path: Path):
    path = write(tmp_path, ["10"], ["01"])
    for file in (tmp_path / "sick.json", tmp_path / "items" / "sick.jsonl"):
        lines = file.read_text().rsplit(CLAIM["lower"], 1)
        lines[1] = lines[1].replace('"seeds": [0]', '"seeds": [7]').replace(": 0,", ": 7,")
        file.write_text(CLAIM["lower"].join(lines))
    (record,) = check_claims.check(path)
    assert record["holds"] == "not tested: the rows have no seed in common"
    assert "difference" not in record


def test_validation_figures_are_compared_by_scores_of_validation_data(tmp_path: Path):
    claim = {**CLAIM, "metric": "validation_accuracy"}
    path = write(tmp_path, ["1" * 40], ["0" * 40])
    path.write_text(json.dumps({"claims": [claim, CLAIM]}))
    results = tmp_path / "sick.json"
    table = json.loads(results.read_text())
    for row, figure in zip(table["rows"], (0.75, 0.5)):
        row["metrics"]["validation_accuracy"] = [figure]
    results.write_text(json.dumps(table))
    first, second = check_claims.check(path)
    assert first["difference"] == "+25.0"
    assert first["holds"].startswith("not tested")  # there are only scores of the test data
    assert second["holds"] == "yes"
    items = tmp_path / "items" / "sick.jsonl"
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    lines += [
        {**line, "data": "validation", "scores": scores}
        for line, scores in zip(lines, ("1110" * 10, "1100" * 10))
    ]
    items.write_text("\n".join(map(json.dumps, lines)))
    first, second = check_claims.check(path)
    assert first["interval"].startswith("+")
    assert second["interval"] == "+100.0 to +100.0"


def test_scores_of_several_metrics_in_percent(tmp_path: Path):
    claim = {**CLAIM, "metric": "rouge_l", "in_percent": True}
    path = write(tmp_path, ["10"], ["01"], claim)
    results, items = tmp_path / "sick.json", tmp_path / "items" / "sick.jsonl"
    table = json.loads(results.read_text())
    for row, figure in zip(table["rows"], (45.0, 30.0)):
        row["metrics"] = {"rouge_l": [figure]}
    results.write_text(json.dumps(table))
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    lines[0]["scores"] = {"f1": [0.0, 0.0], "rouge_l": [50.0, 40.0]}
    lines[1]["scores"] = {"f1": [90.0, 90.0], "rouge_l": [20.0, 40.0]}
    items.write_text("\n".join(map(json.dumps, lines)))
    (record,) = check_claims.check(path)
    assert (record["higher"], record["lower"]) == ("45.0", "30.0")
    assert record["difference"] == "+15.0"
    assert record["interval"] == "+0.0 to +30.0"


def test_a_row_by_its_model(tmp_path: Path):
    """Two rows have the same configuration, with other overrides."""
    claim = {**CLAIM, "higher": "large", "lower": "small"}
    path = write(tmp_path, ["1110"], ["1000"], claim)
    for file in (tmp_path / "sick.json", tmp_path / "items" / "sick.jsonl"):
        text = file.read_text().replace('"configuration": "large", "overrides": "{}"', OTHER)
        file.write_text(
            text.replace('"configuration": "small"', '"configuration": "sick/cas_lstm"')
        )
    (record,) = check_claims.check(path)
    assert (record["higher"], record["lower"]) == ("75.0", "25.0")
    assert "interval" in record


def test_a_row_that_was_not_trained_is_named(tmp_path: Path):
    (record,) = check_claims.check(write(tmp_path, ["10"], []))
    assert record["holds"] == "missing: sick/bilstm"
    assert "difference" not in record


def test_a_file_of_results_that_does_not_exist(tmp_path: Path):
    path = write(tmp_path, ["10"], ["01"])
    (tmp_path / "sick.json").unlink()
    (record,) = check_claims.check(path)
    assert record["holds"] == "missing: sick/cas_lstm, sick/bilstm"


def test_rows_without_scores_of_items_have_no_interval(tmp_path: Path):
    path = write(tmp_path, ["10"], ["01"])
    (tmp_path / "items" / "sick.jsonl").unlink()
    (record,) = check_claims.check(path)
    assert record["difference"] == "+0.0"
    assert record["holds"].startswith("not tested")


def test_scores_of_other_runs_are_an_error(tmp_path: Path):
    path = write(tmp_path, ["10"], ["01"])
    items = tmp_path / "items" / "sick.jsonl"
    items.write_text(items.read_text().replace('"01"', '"00"'))
    with pytest.raises(ValueError, match=r"bilstm with seed 0 make 0\.0000, .* is 0\.5"):
        check_claims.check(path)


CLAIMS = check_claims.REPOSITORY / "docs" / "results" / "claims.json"


def test_the_records_of_the_documentation_are_up_to_date():
    """All but the intervals, of which a bootstrap would take too long here."""
    records = json.loads(CLAIMS.read_text())["records"]
    made = check_claims.check(CLAIMS, bootstrapped=False)
    remedy = "run python scripts/check_claims.py docs/results/claims.json"
    assert len(records) == len(made), remedy
    for record, expected in zip(records, made):
        if "holds" not in expected:
            assert {"interval", "holds"} <= set(record), remedy
            low, high = (float(bound) for bound in record.pop("interval").split(" to "))
            assert low <= float(record["difference"].split()[0]) <= high, remedy
            del record["holds"]
        assert record == expected, remedy


def test_the_claims_of_the_documentation_are_about_configurations():
    claims = json.loads(CLAIMS.read_text())["claims"]
    for name in {claim[side] for claim in claims for side in ("higher", "lower")}:
        path = check_claims.REPOSITORY / "training_config" / f"{name}.jsonnet"
        assert path.exists() or "/" not in name, name


def test_the_records_are_written_beside_the_claims(tmp_path: Path, monkeypatch, capsys):
    path = write(tmp_path, ["10"], ["01"])
    monkeypatch.setattr("sys.argv", ["check_claims.py", str(path)])
    check_claims.main()
    written = json.loads(path.read_text())
    assert written["claims"] == [CLAIM]
    assert written["records"] == check_claims.check(path)
    assert set(written["records"][0]) <= set(written["columns"].values())
    assert "CAS-LSTM above BiLSTM (SICK): open" in capsys.readouterr().out
