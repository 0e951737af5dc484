"""The package as users see it: imported, built and installed.

CI runs the slow tests of this file, too.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.conftest import CAN_COMPILE, REPOSITORY, SMALL_QUICK_START
from tests.fresh_process import run_python
from tests.linked_environment import LinkedEnvironment

IMPORT = """
import sys
from allennlp_sentmatch.environment import _extras
names = {name.split("-cpu")[0].replace("-", "_") for names in _extras().values() for name in names}
names |= {"onnx", "onnxruntime"}
names -= {"transformers", "huggingface_hub"}  # which AllenNLP needs
assert {"faiss", "fastapi", "rouge_score"} <= names
sys.modules.update(dict.fromkeys(names))  # importing them now raises ImportError
from allennlp.common import Registrable
from allennlp.common.util import import_module_and_submodules
def registered():
    return {
        (base, name)
        for base, names in Registrable._registry.items()
        for name, (cls, _) in names.items()
        if cls.__module__.startswith("allennlp_sentmatch.")
    }
import allennlp_sentmatch
at_first = registered()
import_module_and_submodules("allennlp_sentmatch")
assert len(at_first) > 50 and at_first == registered(), registered() - at_first
"""


def test_importing_the_package_registers_every_name(tmp_path):
    """Like `--include-package`, even if optional libraries are missing."""
    environment = {"PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path)}
    result = run_python(IMPORT, cwd=tmp_path, environment=environment)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", ["allennlp_sentmatch", "allennlp_sentmatch.corpora"])
def test_names_that_are_imported_on_first_use_are_completed(name):
    """IPython and editors complete what `dir` lists."""
    module = import_module(name)
    assert set(module.__all__) <= set(dir(module))
    assert all(hasattr(module, listed) for listed in dir(module))


QUICK_COMPILER = """#!/bin/bash
exec c++ "${@/-O3/-O0}"
"""
"""It does not optimize, which takes nine tenths of the time."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel that is built from an sdist."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("built")
    compiler = tmp_path_factory.mktemp("compiler") / "c++"
    compiler.write_text(QUICK_COMPILER)
    compiler.chmod(0o755)
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    environment = {
        **os.environ,
        "CC": str(compiler),
        "CXX": str(compiler),
    }
    subprocess.run(
        [*build, str(REPOSITORY)], stdout=subprocess.DEVNULL, env=environment, check=True
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def described(wheel) -> tuple[str, str]:
    """The headers and the text of the wheel's METADATA."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        headers, _, text = archive.read(name).decode().partition("\n\n")
    return headers, text


@pytest.mark.slow
def test_the_wheel_has_all_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    sources = subprocess.run(
        ["git", "ls-files", "allennlp_sentmatch/*.py", "allennlp_sentmatch/pretrained"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {*sources, "allennlp_sentmatch/py.typed"} <= names
    assert "allennlp_sentmatch/pretrained/sentence_encoder/model.safetensors" in names
    assert wheel.stat().st_size < 30_000_000
    if CAN_COMPILE:
        assert any("nn/ops/native/_steps." in name for name in names)


@pytest.mark.slow
def test_the_plain_package_requires_little(described):
    required = re.findall("^Requires-Dist: (.*)", described[0], re.MULTILINE)
    assert [line for line in required if "extra ==" not in line] == [
        "torch>=1.12",
        "numpy>=1.22",
        "scikit-learn>=1.0",
        "scipy>=1.7",
        "tokenizers>=0.12.1",
        "tqdm>=4.57",
    ]


@pytest.mark.slow
def test_the_page_on_a_package_index_has_absolute_links(described):
    links = re.findall(r"\]\(([^)]+)\)", described[1])
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.slow
def test_installs_into_an_environment_of_its_own(wheel, tmp_path):
    """Follow docs/install.md: install, add AllenNLP, train. Nothing comes from this environment."""
    ours = {"allennlp", "allennlp-sentmatch", "allennlp-torch-support", "torchvision-stand-in"}
    reinstalled = "base58"  # small, and without requirements
    try:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "allennlp==2.10.1"],
            cwd=tmp_path,
            check=True,
        )
    except subprocess.CalledProcessError:
        pytest.skip("the package index cannot be reached")
    names = {re.sub(r"[-_.]+", "-", d.metadata["Name"]).lower() for d in distributions()}
    environment = LinkedEnvironment(tmp_path / "environment", names - ours - {reinstalled})

    installed = environment.run("-m", "pip", "install", "--no-index", wheel)
    assert installed.returncode == 0, installed.stdout
    without = environment.run("-m", "allennlp_sentmatch")
    assert without.returncode == 0, without.stdout
    assert "not installed; type `python -m allennlp_sentmatch install-allennlp`" in without.stdout

    first = environment.run("-m", "allennlp_sentmatch", "install-allennlp")
    assert first.returncode == 0, first.stdout
    added = re.findall(r"^  (\S+)==", first.stdout, re.MULTILINE)
    assert added == [reinstalled, "allennlp", "allennlp-torch-support"]
    assert "AllenNLP 2.10.1 is ready" in first.stdout
    second = environment.run("-m", "allennlp_sentmatch", "install-allennlp")
    assert second.returncode == 0, second.stdout
    assert "are installed already" in second.stdout

    shutil.copytree(REPOSITORY / "fixtures" / "quick_start", environment.folder / "data")
    shutil.copy(REPOSITORY / "training_config" / "quick_start.jsonnet", environment.folder)
    overrides = {
        **SMALL_QUICK_START,
        "train_data_path": "data/validation.tsv",
        "validation_data_path": "data/test.tsv",
    }
    trained = environment.run(
        "train",
        "quick_start.jsonnet",
        "--serialization-dir",
        "out",
        "--overrides",
        json.dumps(overrides),
        program="allennlp",
    )
    assert trained.returncode == 0, trained.stdout
    assert (environment.folder / "out" / "model.tar.gz").is_file()


@pytest.mark.slow
def test_the_environment_prints_no_warning(tmp_path):
    """Without `.allennlp_plugins`, allennlp-torch-support loads the package."""
    if sys.version_info < (3, 11):
        pytest.skip("AllenNLP's own pins cause warnings")
    result = subprocess.run(
        [str(Path(sys.executable).with_name("allennlp")), "--help"],
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not [line for line in result.stderr.splitlines() if " - INFO - " not in line]
    assert "Train a model." in result.stdout


@pytest.mark.parametrize(
    ("module", "returned"),
    [
        ("allennlp_sentmatch", {"Deduplication", "Duplicate", "Found", "KeptText"}),
        ("allennlp_sentmatch.corpora", {"Neighbor"}),
    ],
)
def test_what_functions_return_is_importable_where_they_are(module, returned):
    place = import_module(module)
    assert returned <= set(place.__all__)
    for name in place.__all__:
        assert getattr(place, name) is not None
