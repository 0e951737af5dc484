"""Tests of the matrix that `make test-portable` runs; the matrix itself takes over an hour."""

import pytest
import torch

from scripts import run_portable_tests as portable


@pytest.mark.skipif(not hasattr(torch.backends, "cpu"), reason="torch 1.12 does not tell it")
@pytest.mark.parametrize(
    ("newest", "names"),
    [
        ("AVX512", ["default", "avx2", "avx512"]),
        ("AVX2", ["default", "avx2"]),
        ("DEFAULT", ["default"]),
        ("an architecture without these names", ["default"]),
    ],
)
def test_the_matrix_goes_as_far_as_the_cpu(monkeypatch, newest, names):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: newest)
    *matrix, busy = portable.runs()
    expected = [(name, threads, False) for name in [*names, None] for threads in (1, 2)]
    assert [(values[0], *rest) for values, *rest in matrix] == expected
    assert busy == ((None, None, None), 2, True)


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize(
    ("onednn", "status", "summary"), [("SSE41", 0, "2 passed"), ("AVX2", 1, "1 failed")]
)
def test_a_run_has_its_settings_and_its_status(
    tmp_path, monkeypatch, capsys, busy, onednn, status, summary
):
    monkeypatch.setenv("MKL_ENABLE_INSTRUCTIONS", "AVX2")  # which is unset in the run
    (tmp_path / "test_settings.py").write_text(
        "from os import environ\n"
        "def test_set(): assert environ['ONEDNN_MAX_CPU_ISA'] == 'SSE41'\n"
        "def test_others():\n"
        "    assert environ['ATEN_CPU_CAPABILITY'] == 'default'\n"
        "    assert 'MKL_ENABLE_INSTRUCTIONS' not in environ\n"
        "    assert environ['OMP_NUM_THREADS'] == environ['MKL_NUM_THREADS'] == '1'\n"
    )
    arguments = [str(tmp_path), "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    found = portable.run_tests((("default", onednn, None), 1, busy), arguments)
    assert (found[0], found[1][:8]) == (status, summary)
    assert ("FAILED" in capsys.readouterr().out) == (status == 1)
