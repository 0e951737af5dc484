"""The files in examples/ run, print their announced output, and draw their pictures."""

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
def test_the_package_trains_predicts_and_names_a_misspelt_setting(tmp_path):
    """Run it from the folder of the examples, as its docstring says."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert "(examples/own_package/__init__.py)" in readme

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "allennlp", *arguments, "--include-package", "own_package"],
            cwd=REPOSITORY / "examples",
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
        )

    out = tmp_path / "out"
    train = ("train", "own_package/train.jsonnet", "-s", str(out))
    result = run(*train)
    assert result.returncode == 0, result.stderr[-3000:]
    pairs = "../fixtures/own_data/pairs.tsv"
    predictions = tmp_path / "predictions.jsonl"
    options = ("--use-dataset-reader", "--silent", "--output-file", str(predictions))
    result = run("predict", str(out / "model.tar.gz"), pairs, *options)
    assert result.returncode == 0, result.stderr[-3000:]
    assert len(predictions.read_text().splitlines()) == 10
    result = run(*train, "--force", "-o", '{"model.mathcer": 1}')
    assert result.returncode == 1
    assert "LengthAwareClassifier has no setting mathcer; its settings are" in result.stderr
    assert "matcher" in result.stderr.rpartition("its settings are")[2]


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
