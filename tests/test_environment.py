"""Tests of the description that `python -m allennlp_sentmatch` prints."""

import platform
import sys

import pytest
import torch

from allennlp_sentmatch import environment
from allennlp_sentmatch.__main__ import main
from allennlp_sentmatch.installation import InstallationError


def test_describes_this_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    lines = environment.describe_environment().splitlines()
    described = {line[:16].strip(): line[16:] for line in lines}
    assert described["Python"] == f"{platform.python_version()}, {sys.executable}"
    assert described["torch"] == torch.__version__
    assert described["threads"].startswith("3 (OMP_NUM_THREADS=7")
    assert described["AllenNLP"] == "2.10.1, can be imported"


PROCESSOR = """processor\t: {number}
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
flags\t\t: fpu avx2 {flags}

"""


@pytest.mark.skipif(not hasattr(torch.backends, "cpu"), reason="torch 1.12 does not say it")
def test_processors_of_one_name_differ_by_family_model_and_instructions(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "PROCESSORS", tmp_path / "cpuinfo")
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    text = PROCESSOR.format(number=0, flags="avx512_bf16") + PROCESSOR.format(number=1, flags="")
    (tmp_path / "cpuinfo").write_text(text)
    assert environment.processor() == "AMD EPYC, family 25, model 17, AVX2 AVX512_BF16"
    (tmp_path / "cpuinfo").write_text(text.replace("avx512_bf16", "").replace(": 17", ": 1"))
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    expected = "AMD EPYC, family 25, model 1, AVX2 oneDNN up to SSE41"
    assert environment.processor() == expected


def test_a_system_without_cpuinfo_names_what_python_knows(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "PROCESSORS", tmp_path / "missing")
    monkeypatch.setattr(environment.platform, "processor", lambda: "")
    monkeypatch.setattr(environment.platform, "machine", lambda: "arm64")
    name, *_ = environment.processor().split(", ")  # torch 1.12 does not name the instructions
    assert name == "arm64"


def test_names_the_extras_that_are_missing(monkeypatch):
    requirements = ["torch>=1.12", 'torch; extra == "demo"', "nothing>=6; extra == 'demo'"]
    monkeypatch.setattr(environment.metadata, "requires", lambda name: requirements)
    text = environment.describe_environment()
    version = environment.metadata.version("torch")
    assert text.endswith(f"[demo]          torch {version}, nothing missing")


def test_says_once_what_missing_compiled_steps_cost(monkeypatch, tmp_path, capsys):
    native = tmp_path / "nn" / "ops" / "native"
    native.mkdir(parents=True)
    monkeypatch.setattr(environment, "PACKAGE", tmp_path)
    assert not environment.has_compiled_steps()
    monkeypatch.setattr("allennlp_sentmatch.__main__.describe_environment", lambda: "described")
    main([])
    printed = capsys.readouterr().out
    assert printed.startswith("described\nThe compiled steps are missing")
    assert printed.count("missing") == 1
    (native / "_steps.abi3.so").touch()
    assert environment.has_compiled_steps()


def test_a_refusal_is_one_sentence(monkeypatch):
    def refuse(constraint, dry_run):
        raise InstallationError("torch is too old")

    monkeypatch.setattr("allennlp_sentmatch.__main__.install_allennlp", refuse)
    with pytest.raises(SystemExit, match=r"^install-allennlp: torch is too old\.$"):
        main(["install-allennlp"])
