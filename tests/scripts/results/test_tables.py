"""The files of results survive an interruption while they are written."""

import json
import resource

import pytest

from benchmarks.report import save
from scripts.results.tables import read_items, read_table, write_items, write_table


@pytest.fixture
def full_disk():
    """The largest file has 100 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_stays_as_it_was_if_it_cannot_be_written(tmp_path, request):
    path = tmp_path / "sick.json"
    scores = [[i / 7 for i in range(100)], list("x" * 99)]
    write_table(path, {"rows": []})
    write_items(path, [{"seed": 1}])
    save(tmp_path / "speed", {}, [{"ms": 1}], {})
    request.getfixturevalue("full_disk")
    for write, content in ((write_table, {"rows": scores}), (write_items, [{"scores": scores}])):
        with pytest.raises(OSError, match="File too large"):
            write(path, content)
    with pytest.raises(OSError, match="File too large"):
        save(tmp_path / "speed", {}, [{"ms": scores}], {})
    assert read_table(path) == {"rows": []}
    assert read_items(path) == [{"seed": 1}]
    assert json.loads((tmp_path / "speed.json").read_text())["records"] == [{"ms": 1}]
