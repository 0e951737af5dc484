"""The module that install-allennlp puts into site-packages."""

from pathlib import Path

import pytest
import torch

from allennlp_sentmatch import installation
from tests.fresh_process import run_python


def run(program: str) -> str:
    """Run a program that finds the module, in an environment that has no torchvision."""
    folder = Path(installation.__file__).with_name("site_packages")
    hide = (
        f"import sys, pytest; sys.path.insert(0, {str(folder)!r})\n"
        "import importlib.machinery, types\n"
        "real = importlib.machinery.PathFinder.find_spec\n"
        "def find_spec(name, path=None, target=None):\n"
        "    return None if name == 'torchvision' else real(name, path, target)\n"
        "sys.meta_path = [types.SimpleNamespace(find_spec=find_spec)]\n"
        "sys.modules.pop('allennlp_torch_support', None)  # where it is installed\n"
        "import allennlp_torch_support\n"
    )
    result = run_python(hide + program)
    assert result.returncode == 0, result.stderr
    return result.stderr


def test_torchvision_is_absent_without_allennlp():
    run("with pytest.raises(ModuleNotFoundError, match='torchvision'):\n    import torchvision\n")


def test_its_functions_say_what_is_missing():
    run(
        "sys.modules['allennlp'] = types.ModuleType('allennlp')\n"
        "import torchvision, torchvision.ops.boxes as box_ops\n"
        "for call in (torchvision.io.read_image, box_ops.nms, torchvision.ops.misc.Norm):\n"
        "    with pytest.raises(NotImplementedError, match='torchvision is not installed'):\n"
        "        call('a.png')\n"
    )


def test_only_the_warnings_of_fairscale_are_ignored(tmp_path):
    (tmp_path / "fairscale.py").write_text("import warnings\nwarnings.warn('its', FutureWarning)\n")
    warned = run(
        f"import warnings; sys.path.insert(1, {str(tmp_path)!r})\n"
        "sys.modules['allennlp'] = types.ModuleType('allennlp')\n"
        "import fairscale\n"
        "warnings.warn('yours', FutureWarning)\n"
    )
    assert "its" not in warned
    assert "yours" in warned


@pytest.fixture
def broken_allennlp(tmp_path):
    """A program that imports an AllenNLP whose commands another package breaks."""
    contents = {
        "allennlp/__init__.py": "",
        "allennlp/common/__init__.py": "",
        "allennlp/common/plugins.py": "def discover_plugins():\n    yield 'theirs'\n",
        "allennlp/commands/__init__.py": "import not_there",
        "bin/allennlp": "",
    }
    for name, text in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return (
        "from importlib.machinery import BuiltinImporter, PathFinder\n"
        "sys.meta_path += [BuiltinImporter, PathFinder]  # which tell the versions, too\n"
        f"sys.path.insert(1, {str(tmp_path)!r})\n"
        f"sys.argv = [{str(tmp_path / 'bin' / 'allennlp')!r}]\n"
    )


def test_the_package_is_a_plugin_without_a_file_that_names_it(broken_allennlp):
    run(
        broken_allennlp + "from allennlp.common.plugins import discover_plugins\n"
        "assert list(discover_plugins()) == ['allennlp_sentmatch', 'theirs']\n"
    )


def test_the_program_names_the_package_that_breaks_allennlp(broken_allennlp):
    explained = run(
        broken_allennlp + "with pytest.raises(SystemExit) as error:\n"
        "    import allennlp.commands\n"
        "print(error.value, file=sys.stderr)\n"
    )
    assert explained.startswith("allennlp: error: the package not_there keeps AllenNLP from being ")


def test_other_programs_get_the_error_itself(broken_allennlp):
    run(
        broken_allennlp + "sys.argv = ['train.py']\n"
        "with pytest.raises(ModuleNotFoundError, match='not_there'):\n"
        "    import allennlp.commands\n"
    )


def test_the_plugin_is_there_for_allennlp_diff(tmp_path):
    """`allennlp diff` computes no distances of integers without this package's repair."""
    for name, count in (("a", 1), ("b", 3)):
        torch.save({"batches": torch.tensor(count)}, tmp_path / f"{name}.th")
    run(
        "from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder\n"
        "sys.meta_path += [BuiltinImporter, FrozenImporter, PathFinder]\n"
        f"sys.argv = ['allennlp', 'diff', *{[str(tmp_path / f'{x}.th') for x in 'ab']!r}]\n"
        "from allennlp.__main__ import run\n"
        "run()\n"
    )
