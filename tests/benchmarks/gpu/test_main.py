"""The command that measures everything on a GPU, rehearsed on the CPU."""

import json
import os
import subprocess
import sys
import time

import pytest

from benchmarks.cases import CASES
from benchmarks.gpu import __main__ as program
from benchmarks.gpu import contracts
from benchmarks.launches import ENCODERS
from tests.conftest import REPOSITORY


def run(output, *arguments):
    return subprocess.run(
        ["bash", str(REPOSITORY / "benchmarks" / "gpu.sh"), str(output), *arguments],
        env={**os.environ, "PYTHON": sys.executable, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_all_parts_run_on_the_cpu(tmp_path):
    completed = run(tmp_path, "--device", "cpu")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    parts = {x["part"]: x["result"] for x in json.loads((tmp_path / "parts.json").read_text())}
    assert parts.pop("tests") in ("no test needs this device", "completed")
    assert set(parts.values()) == {"completed"}
    encoders = {
        "contracts": list(contracts.ENCODERS),
        "launches": list(ENCODERS),
        "encoders": [case.name for case in CASES],
        "compiled": ["cas_lstm"],
    }
    for part, names in encoders.items():
        records = json.loads((tmp_path / f"{part}.json").read_text())["records"]
        assert [record["encoder"] for record in records] == names
        assert not [record for record in records if record.get("failed")]
    (row,) = json.loads((tmp_path / "compiled.json").read_text())["records"]
    assert row["forward_gain"] > 0
    (ours, *_) = json.loads((tmp_path / "sentences.json").read_text())["records"]
    assert ours["cosine"] > 0.9999


def test_what_fails_or_takes_too_long_does_not_stop_the_others(tmp_path):
    def part(name, seconds, code):
        return program.Part(name, seconds, ["timeit", "-n1", "-r1", code])

    start = time.monotonic()
    records = program.run_all(
        [
            part("broken", 60, "raise ValueError"),
            part("slow", 0.5, "import subprocess; subprocess.run(['sleep', '60'])"),
            part("good", 60, f"open({str(tmp_path / 'written')!r}, 'w').close()"),
        ],
        60,
        tmp_path,
    )
    assert time.monotonic() - start < 50
    results = [record["result"] for record in records]
    assert results == ["failed with status 1", "stopped after 0.5 seconds", "completed"]
    assert (tmp_path / "written").exists()
    assert json.loads((tmp_path / "parts.json").read_text()) == records
    (record,) = program.run_all([part("late", 60, "1")], 0, tmp_path)
    assert record["result"] == "left out: no time was left"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "finds no GPU; --device cpu rehearses"),
        (
            ("--device", "cpu", "--parts", "speed"),
            "there is no part 'speed', only contracts, tests",
        ),
    ],
)
def test_errors_say_what_to_do(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program.torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["gpu", str(tmp_path), *arguments])
    with pytest.raises(SystemExit, match="2"):
        program.main()
    assert message in capsys.readouterr().err
