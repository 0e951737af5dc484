"""`make demo` prints what the documentation shows."""

import json
import re

from scripts import demo
from tests.conftest import REPOSITORY


def write(folder, epoch, training, validation):
    metrics = {"training_accuracy": training, "validation_accuracy": validation}
    (folder / f"metrics_epoch_{epoch}.json").write_text(json.dumps(metrics))


def test_each_finished_epoch_has_a_line(tmp_path):
    assert list(demo.finished_epochs(tmp_path, 0)) == []
    write(tmp_path, 0, 0.5, 0.25)
    write(tmp_path, 1, 0.75, 0.5)
    (tmp_path / "metrics_epoch_2.json").write_text('{"training_acc')
    lines = list(demo.finished_epochs(tmp_path, 0))
    assert [line.split()[1] for line in lines] == ["1", "2"]
    assert lines[1].endswith("accuracy in training 75.0%, in validation 50.0%")
    assert list(demo.finished_epochs(tmp_path, 1)) == lines[1:]
    assert list(demo.finished_epochs(tmp_path, 2)) == []


def test_the_documentation_shows_what_is_printed():
    """The commands and headings, which the script prints, are in docs/quick_start.md."""
    shown = (REPOSITORY / "docs" / "quick_start.md").read_text(encoding="utf-8")
    source = (REPOSITORY / "scripts" / "demo.py").read_text(encoding="utf-8")
    constants = re.findall(r'print\("([^"{}\\]+)"\)', source)
    assert len(constants) >= 5
    assert [text for text in constants if text not in shown] == []
