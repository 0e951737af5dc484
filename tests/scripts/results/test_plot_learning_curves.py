import json

import pytest

pytest.importorskip("matplotlib")

from scripts.results import plot_learning_curves


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    for epoch in range(11):  # of which "10" comes after "9"
        metrics = {"validation_accuracy": epoch / 20, "training_duration": f"1:0{epoch % 10}:30.0"}
        (folder / f"metrics_epoch_{epoch}.json").write_text(json.dumps(metrics))
    return folder


def test_by_epochs_and_by_minutes(run, tmp_path, monkeypatch):
    figure = plot_learning_curves.learning_curves([run], "validation_accuracy")
    curves = [(list(x.lines[0].get_xdata()), list(x.lines[0].get_ydata())) for x in figure.axes]
    accuracies = [epoch / 20 for epoch in range(11)]
    minutes = [*(60.5 + epoch for epoch in range(10)), 60.5]
    assert curves == [(list(range(1, 12)), accuracies), (minutes, accuracies)]
    assert figure.axes[0].lines[0].get_label() == "tree"
    picture = tmp_path / "curves.png"
    monkeypatch.setattr("sys.argv", ["plot_learning_curves.py", str(picture), str(run)])
    plot_learning_curves.main()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_folder_without_the_metric(run, tmp_path):
    for folder, metric in ((tmp_path, "validation_accuracy"), (run, "validation_f1")):
        with pytest.raises(ValueError, match=f"{folder} has no .*{metric}"):
            plot_learning_curves.read_curve(folder, metric)
