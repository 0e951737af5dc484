"""The plots have the recorded gains and curves."""

import json

import pytest

pytest.importorskip("matplotlib")

from scripts.results import plots


def row(configuration, **metrics):
    return {
        "model": configuration.upper(),
        "configuration": configuration,
        "metrics": metrics,
    }


TASKS = [name for name in plots.TASKS.values() if name != "average"]
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
    "metrics": {"accuracy": "test accuracy, %"},
    "rows": [
        {"model": "majority class", "metrics": {"accuracy": 0.5}},
        row("sick/bilstm", accuracy=[0.5, 0.625, 0.75]),
        row("sick/subilstm", accuracy=[0.5]),
    ],
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
    gain, error = plots.gain(TRANSFER, "subilstm", ["mr_accuracy"], "/allnli_small")
    # The variances of (50, 70) and (70, 80) are 200 and 50.
    assert (gain, error) == pytest.approx((15, (200 / 2 + 50 / 2) ** 0.5))
    assert plots.gain(TRANSFER, "subilstm_tied", ["average"], "/allnli") == (0.5, 0)
    assert plots.gain(SICK, "subilstm", ["accuracy"]) == (-12.5, 0)  # one seed has no spread
    assert plots.gain(TRANSFER, "subilstm", ["average"], "/allnli") is None
    by_task, by_data = plots.gains_figure(TRANSFER, [SICK, OTHER]).axes
    assert [bar.get_height() for bar in by_task.patches] == pytest.approx([15] * 10 + [1.5])
    assert [bar.get_height() for bar in by_data.patches] == pytest.approx([12.5, -12.5, 1.5])
    published = [line.get_ydata()[0] for line in by_task.lines if line.get_marker() == "D"]
    assert published == pytest.approx([1.25] * 10 + [0.5])
    labels = [label.get_text() for label in by_data.get_xticklabels()]
    assert labels[:2] == ["NLI\nGloVe\n200", "SICK\nrandom\n4,500"]


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    for epoch in range(11):  # "10" comes after "9"
        metrics = {"validation_accuracy": epoch / 20, "training_duration": f"1:0{epoch % 10}:30.0"}
        (folder / f"metrics_epoch_{epoch}.json").write_text(json.dumps(metrics))
    return folder


def test_curves_by_epochs_and_by_minutes(run, tmp_path):
    figure = plots.learning_curves([run])
    curves = [(list(x.lines[0].get_xdata()), list(x.lines[0].get_ydata())) for x in figure.axes]
    accuracies = [epoch / 20 for epoch in range(11)]
    minutes = [*(60.5 + epoch for epoch in range(10)), 60.5]
    assert curves == [(list(range(1, 12)), accuracies), (minutes, accuracies)]
    for folder, metric in ((tmp_path, "validation_accuracy"), (run, "validation_f1")):
        with pytest.raises(ValueError, match=f"{folder} has no .*{metric}"):
            plots.read_curve(folder, metric)


@pytest.mark.parametrize("kind", ["accuracies", "gains", "curves"])
def test_a_picture_is_written(kind, run, tmp_path, monkeypatch):
    files = [tmp_path / f"{i}.json" for i in range(2)]
    for file, results in zip(files, (TRANSFER, SICK) if kind == "gains" else (SICK, OTHER)):
        file.write_text(json.dumps(results))
    results = [run] if kind == "curves" else files
    words = ["", kind, tmp_path / "picture.png", *results]
    monkeypatch.setattr("sys.argv", list(map(str, words)))
    plots.main()
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
