"""The files in examples/ run, print what they announce, and draw their pictures."""

import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

PRINTED = {
    "choose_a_threshold": "precision 0.9: from probability",
    "compare_encoders": "Bi-CAS-LSTM, 2 layers",
    "explain_a_decision": "opposite (0.",
    "few_labels": "256 labeled pairs",
    "find_duplicates": "of 120 questions are kept",
    "support_a_claim": "of 300 test pairs right",
}


def test_every_example_is_tested_and_in_the_readme():
    names = {path.stem for path in (REPOSITORY / "examples").glob("*.py")}
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert names == set(PRINTED)
    assert all(f"(examples/{name}.py)" in readme for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs_and_draws_a_picture(name, tmp_path):
    pytest.importorskip("matplotlib")
    path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, str(REPOSITORY / "examples" / f"{name}.py")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert PRINTED[name] in result.stdout
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
