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
    assert record["seeds"] == "2"
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


def test_the_records_are_written_beside_the_claims(tmp_path: Path, monkeypatch, capsys):
    path = write(tmp_path, ["10"], ["01"])
    monkeypatch.setattr("sys.argv", ["check_claims.py", str(path)])
    check_claims.main()
    written = json.loads(path.read_text())
    assert written["claims"] == [CLAIM]
    assert written["records"] == check_claims.check(path)
    assert set(written["records"][0]) <= set(written["columns"].values())
    assert "CAS-LSTM above BiLSTM (SICK): open" in capsys.readouterr().out
