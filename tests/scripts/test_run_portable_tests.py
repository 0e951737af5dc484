"""Tests of the matrix that `make test-portable` runs; the matrix itself takes over an hour."""

import pytest
import torch

from scripts import run_portable_tests as portable


@pytest.fixture
def capability(monkeypatch):
    def pretend(name):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: name)

    if not hasattr(torch.backends, "cpu"):
        pytest.skip("torch 1.12 does not tell its instructions")
    return pretend


@pytest.mark.parametrize(
    ("newest", "names"),
    [
        ("AVX512", ["default", "avx2", "avx512"]),
        ("AVX2", ["default", "avx2"]),
        ("DEFAULT", ["default"]),
        ("an architecture without these names", ["default"]),
    ],
)
def test_the_matrix_goes_as_far_as_the_cpu(capability, newest, names):
    capability(newest)
    *matrix, busy = portable.runs()
    assert len({run.cells for run in matrix}) == len(matrix) == (len(names) + 1) * 2
    assert list(dict.fromkeys(run.aten for run in matrix)) == [*names, None]
    assert busy.busy


def test_an_unset_variable_is_removed(monkeypatch):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    environment = portable.Run("default", None, "AVX2", 2).environment
    assert "ONEDNN_MAX_CPU_ISA" not in environment
    assert environment["MKL_ENABLE_INSTRUCTIONS"] == "AVX2"
    assert environment["OMP_NUM_THREADS"] == environment["MKL_NUM_THREADS"] == "2"


@pytest.mark.parametrize("busy", [False, True])
def test_a_run_has_its_settings_and_its_status(tmp_path, busy):
    (tmp_path / "test_settings.py").write_text(
        "import os\n"
        "def test_capability(): assert os.environ['ATEN_CPU_CAPABILITY'] == 'default'\n"
        "def test_onednn(): assert os.environ['ONEDNN_MAX_CPU_ISA'] == 'SSE41'\n"
    )
    arguments = [str(tmp_path), "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    run = portable.Run("default", "SSE41", None, 1, busy)
    status, summary, _ = portable.run_tests(run, arguments)
    assert (status, summary[:8]) == (0, "2 passed")
    run = portable.Run("default", "AVX2", None, 1, busy)
    status, summary, _ = portable.run_tests(run, arguments)
    assert (status, summary[:8]) == (1, "1 failed")


def test_the_table_is_aligned():
    rows = [("default", "unset", "AVX2", "1", "no", "4.1", "9 passed")]
    lines = portable.table(rows).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[2].startswith("| default             | unset              | AVX2 ")
