import json

import pytest

pytest.importorskip("matplotlib")

from scripts.results import plot_results

RESULTS = {
    "data": "SICK: 4,500 training pairs",
    "metrics": {"accuracy": "test accuracy, %"},
    "rows": [
        {"model": "majority class", "metrics": {"accuracy": 0.5}},
        {"model": "BiLSTM", "configuration": "a", "metrics": {"accuracy": [0.5, 0.625, 0.75]}},
        {"model": "RCRN", "configuration": "b", "metrics": {"accuracy": [0.25]}},
    ],
}


def test_each_seed_has_a_point_and_each_trained_row_a_mean(tmp_path, monkeypatch):
    (axes,) = plot_results.accuracy_figure(RESULTS).axes
    drawn = [(x.get_marker(), list(x.get_xdata()), list(x.get_ydata())) for x in axes.lines]
    assert drawn == [
        ("o", [25], [0]),
        ("|", [25], [0]),
        ("o", [50, 62.5, 75], [1, 1, 1]),
        ("|", [62.5], [1]),
    ]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["RCRN", "BiLSTM"]
    assert axes.get_xlabel() == "SICK: test accuracy, % (each seed and the mean)"
    file, picture = tmp_path / "sick.json", tmp_path / "sick.png"
    file.write_text(json.dumps(RESULTS))
    monkeypatch.setattr("sys.argv", ["plot_results.py", str(file), str(picture)])
    plot_results.main()
    assert picture.read_bytes().startswith(b"\x89PNG")
