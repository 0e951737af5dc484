"""Components are registered in any order of imports; `nn` needs only torch."""

import pytest

from tests.conftest import REPOSITORY
from tests.fresh_process import run_python
from tests.linked_environment import LinkedEnvironment, with_requirements

RESOLVE = """
from allennlp.commands import Subcommand
from allennlp.data import DatasetReader
from allennlp.modules import Seq2SeqEncoder
names = [(Seq2SeqEncoder, "cas_lstm"), (DatasetReader, "sentence_pair"), (Subcommand, "encode")]
for base, name in names:
    assert base.by_name(name).__module__.startswith("allennlp_sentmatch.")
"""

NOT_IMPORTED = """
import sys
rooms = ["calibration", "comparison", "inspection", "serving", "transfer", "tuning"]
imported = {f"allennlp_sentmatch.{room}" for room in rooms} | {"fastapi", "optuna", "sacremoses"}
assert not imported & set(sys.modules), imported & set(sys.modules)
"""
"""Every command of `allennlp` registers the components, and would wait for these modules."""

USE_NN = """
import torch
import allennlp_sentmatch.nn
from allennlp_sentmatch.nn import *
assert set(allennlp_sentmatch.nn.__all__) <= set(globals())
for encoder in (LSTMN, CellAwareLSTM, GumbelTreeLSTM, RecurrentlyControlledRNN, SuffixBiLSTM):
    outputs = encoder(4, 3)(torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool))
    outputs.sum().backward()
"""


@pytest.fixture(scope="module")
def torch_alone(tmp_path_factory):
    """An environment with torch and this package, but without AllenNLP."""
    folder = tmp_path_factory.mktemp("torch_alone") / "environment"
    environment = LinkedEnvironment(folder, with_requirements("torch"))
    (environment.site_packages / "repository.pth").write_text(f"{REPOSITORY}\n")
    return environment


@pytest.mark.parametrize(
    "imports",
    [
        "import allennlp.models, allennlp_sentmatch",
        "import allennlp_sentmatch.nn",
        "from allennlp_sentmatch.modules.matchers import Matcher",
        "import allennlp_sentmatch; allennlp_sentmatch.models.SiameseClassifier",
        "import importlib.util, allennlp_sentmatch; importlib.util.find_spec('allennlp')",
    ],
)
def test_every_order_of_imports_registers_the_components(imports):
    result = run_python(imports + RESOLVE + NOT_IMPORTED)
    assert result.returncode == 0, result.stderr


INSTALL_WHAT_IS_MISSING = """
import sys, allennlp_sentmatch
sys.modules["lmdb"] = None
try:
    import {module}
except ImportError:
    del sys.modules["lmdb"]
import {module}
"""


@pytest.mark.parametrize("module", ["allennlp", "allennlp_sentmatch.models"])
def test_an_import_that_failed_may_be_repeated(module):
    """As in a notebook, after a missing package was installed."""
    result = run_python(INSTALL_WHAT_IS_MISSING.format(module=module) + RESOLVE)
    assert result.returncode == 0, result.stderr


def test_nn_needs_nothing_but_torch(torch_alone):
    result = torch_alone.run("-c", USE_NN)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "program",
    [
        "import allennlp_sentmatch.models",
        "from allennlp_sentmatch.modules.matchers import Matcher",
        "import allennlp_sentmatch; allennlp_sentmatch.predictors",
    ],
)
def test_without_allennlp_the_other_parts_say_what_to_type(torch_alone, program):
    result = torch_alone.run("-c", program)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1].endswith(
        "needs AllenNLP, which is not installed; type "
        "`python -m allennlp_sentmatch install-allennlp`"
    )
