"""Errors, plans and messages of `install-allennlp`; tests/test_package.py runs it."""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from allennlp_sentmatch import installation
from allennlp_sentmatch.installation import Change, InstallationError, check_environment
from tests.conftest import REPOSITORY


@pytest.fixture
def versions(monkeypatch):
    """Return the versions that seem to be installed; `None`: not installed."""
    pretended = {"torch": "2.13.0", "torchvision": None}
    real = installation.installed_version

    def installed_version(name):
        return pretended[name] if name in pretended else real(name)

    monkeypatch.setattr(installation, "installed_version", installed_version)
    return pretended


def test_refuses_a_later_python(versions, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    with pytest.raises(InstallationError, match=r"3\.9 to 3\.13, and this is 3\.14;"):
        check_environment()


@pytest.mark.parametrize(
    ("package", "version", "message"),
    [
        ("torch", None, r"torch is not installed; install torch 1\.12 or later"),
        ("torch", "1.11.0+cu113", r"torch 1\.11\.0\+cu113 is too old; install torch 1\.12"),
        ("pip", None, "has no pip"),
        ("pip", "22.1.2", "pip 22.1.2 is too old"),
    ],
)
def test_refuses_a_missing_or_old_package(versions, package, version, message):
    versions[package] = version
    with pytest.raises(InstallationError, match=message):
        check_environment()


@pytest.mark.parametrize("torch", ["1.12", "1.12.1+cpu", "2.9.0a0", "2.13.0"])
def test_accepts_other_torches(versions, torch):
    versions["torch"] = torch
    check_environment()


def test_refuses_a_folder_that_cannot_be_written(versions, monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "gone"))
    with pytest.raises(InstallationError, match=r"nothing can be written to .*gone \(No such file"):
        check_environment()


def test_refuses_the_operating_system_s_python(versions, monkeypatch, tmp_path):
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    check_environment()  # a virtual environment of conda's Python
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(InstallationError, match="belongs to the operating system"):
        check_environment()


def test_refuses_a_torchvision_of_another_torch(versions, monkeypatch, tmp_path):
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('operator does not exist')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    versions["torchvision"] = "0.13.1"
    message = r"torchvision 0\.13\.1 .* torch 2\.13\.0 \(RuntimeError: operator does not exist\)"
    with pytest.raises(InstallationError, match=message):
        check_environment()


@pytest.fixture
def pip(monkeypatch):
    """Records pip's arguments and the limits it got, and answers with a report."""
    calls = []

    def run(*arguments, check=True):
        calls.append(list(arguments))
        if "--report" in arguments:
            report = Path(arguments[arguments.index("--report") + 1])
            limits = Path(arguments[arguments.index("--constraint") + 1])
            calls[-1].append(limits.read_text().split())
            report.write_text('{"install": [{"metadata": {"name": "Zope", "version": "2"}}]}')
        return subprocess.CompletedProcess([], 0, stdout="")

    monkeypatch.setattr(installation, "_pip", run)
    return calls


@pytest.mark.parametrize(
    ("torch", "limits"),
    [
        ("1.12.1", ["torch==1.12.1", "numpy<2"]),
        ("2.2.2+cpu", ["torch==2.2.2+cpu", "numpy<2"]),
        ("2.13.0", ["torch==2.13.0"]),
    ],
)
def test_torch_stays_and_numpy_fits_it(versions, monkeypatch, pip, torch, limits):
    monkeypatch.setattr(installation.metadata, "version", lambda name: torch)
    versions.update({"allennlp": None, "Zope": "3.1"})
    zope = Change("Zope", "2", "3.1")
    allennlp = Change("allennlp", "2.10.1", None)
    assert installation.plan()[:2] == [zope, allennlp]
    assert pip[0][-1] == limits


def oldest_versions(requirements):
    """Return the numbers of the oldest version that each requirement allows."""
    found = (re.match(r"([\w-]+)>=([\d.]+)", requirement) for requirement in requirements)
    return {match[1]: [*map(int, match[2].split("."))] for match in found if match}


def test_allennlp_s_requirements_are_not_older_than_the_package_s_own():
    metadata = (REPOSITORY / "pyproject.toml").read_text()
    own = re.search(r"^dependencies = \[(.*?)^\]", metadata, re.MULTILINE | re.DOTALL)[1]
    ours = oldest_versions(re.findall(r'"(.*?)"', own))
    allennlp_s = oldest_versions(installation.REQUIREMENTS)
    shared = ours.keys() & allennlp_s.keys()
    assert {"numpy", "scikit-learn", "scipy", "tqdm"} <= shared
    assert [name for name in sorted(shared) if allennlp_s[name] < ours[name]] == []


def test_an_older_support_module_is_replaced(versions, monkeypatch, pip, tmp_path):
    versions.update({"Zope": "2", "allennlp": "2.10.1", "allennlp-torch-support": "0.0.1"})
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    replaced = Change("allennlp-torch-support", installation.__version__, "0.0.1")
    installed = tmp_path / "allennlp_torch_support.py"
    assert installation.plan()[1:] == [replaced]
    installed.write_text("# of an earlier version")
    assert installation.plan()[1:] == [replaced]
    installed.write_bytes(installation.SUPPORT_SOURCE.read_bytes())
    assert installation.plan()[1:] == []


@pytest.fixture
def working_versions(versions):
    """Return the versions, with one of each of AllenNLP's requirements that it works with."""
    for requirement in installation.REQUIREMENTS:
        name, operator, oldest = re.match(r"([\w-]+)(\W*)([\d.]*)", requirement).groups()
        versions[name] = {">": f"{oldest}.1", "": "1"}.get(operator, oldest)
    return versions


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"huggingface-hub": "2.4.0"}, ImportError("HfFolder"), r"huggingface-hub 2\.4\.0 is inst"),
        ({"transformers": "4.47.0.dev0"}, ImportError(), r"transformers 4\.47\.0\.dev0 is"),
        ({"lmdb": None}, ModuleNotFoundError(name="lmdb"), "lmdb is missing, and AllenNLP works"),
        ({}, ModuleNotFoundError(name="yaml.nodes"), "the package yaml keeps AllenNLP from being"),
        ({}, ValueError("no frames"), r"the package allennlp keeps .* \(ValueError: no frames\)"),
    ],
)
def test_a_broken_environment_is_explained_by_a_package(working_versions, changed, error, message):
    working_versions.update(changed)
    explained = installation.why_broken(error)
    assert re.match(message, explained)
    assert "`python -m allennlp_sentmatch install-allennlp`" in explained


@pytest.mark.usefixtures("working_versions")
def test_the_package_in_which_an_import_failed_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    (tmp_path / "compiled").mkdir()
    file = tmp_path / "compiled" / "__init__.py"
    with pytest.raises(ValueError, match="size changed") as raised:
        exec(compile("raise ValueError('numpy.dtype size changed')", str(file), "exec"))
    assert installation.why_broken(raised.value).startswith("the package compiled keeps AllenNLP")


def test_all_that_pip_check_finds_is_explained_or_shown():
    """The lines have the forms of pip's command `check`."""
    of_allennlp = "allennlp 2.10.1 has requirement torch<1.13.0,>=1.10.0, but you have torch 2.9"
    others = [
        "streamlit 1.52.0 requires altair, which is not installed.",
        "streamlit 1.52.0 has requirement numpy<2, but you have numpy 2.3.0.",
        "torchtext 0.6.0 is not supported on this platform",
    ]
    explained = installation.explain_conflicts([of_allennlp, *others])
    _, expected, shown = explained.split(":\n")
    assert expected.splitlines()[0].strip() == of_allennlp
    assert [line.strip() for line in shown.splitlines()] == others
    nothing = installation.explain_conflicts(["No broken requirements found."])
    assert nothing == "AllenNLP 2.10.1 is ready: `allennlp --help`."


def test_the_program_needs_no_numpy():
    """The state before the first `install-allennlp`, in an environment with only torch."""
    code = "import runpy, sys; sys.modules['numpy'] = None; "
    code += "sys.argv[1:] = ['install-allennlp', '-h']; "
    code += "runpy.run_module('allennlp_sentmatch', run_name='__main__')"
    command = [sys.executable, "-W", "ignore", "-c", code]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "--constraint" in found.stdout
