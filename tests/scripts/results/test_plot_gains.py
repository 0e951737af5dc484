import json

import pytest

pytest.importorskip("matplotlib")

from scripts.results import plot_gains


def row(configuration, **metrics):
    return {"configuration": configuration, "metrics": metrics}


TASKS = [name for name in plot_gains.TASKS.values() if name != "average"]
TRANSFER = {
    "rows": [
        row("allnli_small/bilstm", average=[70.0, 72.0], **{name: [0.5, 0.7] for name in TASKS}),
        row("allnli_small/subilstm", average=[72.0, 73.0], **{name: [0.7, 0.8] for name in TASKS}),
        row("allnli/bilstm", average=80.0, **dict.fromkeys(TASKS, 0.8)),
        row("allnli/subilstm_tied", average=80.5, **dict.fromkeys(TASKS, 0.8125)),
    ]
}
SICK = {
    "data": "SICK: 4,500 training, 500 trial pairs",
    "vectors": "random",
    "rows": [row("sick/bilstm", accuracy=[0.75]), row("sick/subilstm", accuracy=[0.5])],
}
OTHER = {
    "data": "NLI: 200 of 44,983 training pairs",
    "vectors": "GloVe, trained",
    "rows": [
        row("nli/bilstm", validation_accuracy=[0.5]),
        row("nli/subilstm", validation_accuracy=[0.625]),
    ],
}


def test_gains_in_points_with_standard_errors():
    gain, error = plot_gains.gain(TRANSFER, "subilstm", ["mr_accuracy"], "/allnli_small")
    # The variances of (50, 70) and (70, 80) are 200 and 50.
    assert (gain, error) == pytest.approx((15, (200 / 2 + 50 / 2) ** 0.5))
    assert plot_gains.gain(TRANSFER, "subilstm_tied", ["average"], "/allnli") == (0.5, 0)
    assert plot_gains.gain(TRANSFER, "subilstm", ["average"], "/allnli") is None


def test_bars_for_each_task_and_data_set_by_size(tmp_path, monkeypatch):
    by_task, by_data = plot_gains.gains_figure(TRANSFER, [SICK, OTHER]).axes
    assert [bar.get_height() for bar in by_task.patches] == pytest.approx([15] * 10 + [1.5])
    assert [bar.get_height() for bar in by_data.patches] == pytest.approx([12.5, -25, 1.5])
    published = [line.get_ydata()[0] for line in by_task.lines if line.get_marker() == "D"]
    assert published == pytest.approx([1.25] * 10 + [0.5])
    labels = [label.get_text() for label in by_data.get_xticklabels()]
    assert labels[:2] == ["NLI\nGloVe\n200", "SICK\nrandom\n4,500"]
    files = [tmp_path / "picture.png", tmp_path / "transfer.json", tmp_path / "sick.json"]
    for file, results in zip(files[1:], (TRANSFER, SICK)):
        file.write_text(json.dumps(results))
    monkeypatch.setattr("sys.argv", ["plot_gains.py", *map(str, files)])
    plot_gains.main()
    assert files[0].read_bytes().startswith(b"\x89PNG")
