"""The package as its users meet it: imported, built and installed, and beside allennlp-models."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CAN_COMPILE, REPOSITORY

NAMES = {
    "allennlp.modules:Seq2SeqEncoder": ["cas_lstm", "subilstm", "rcrn", "lstmn", "highway"],
    "allennlp.modules:Seq2VecEncoder": ["gumbel_tree_lstm", "pooled"],
    "allennlp_sentmatch.modules:Matcher": [
        "concat",
        "heuristic",
        "heuristic_difference",
        "symmetric",
        "sum_difference",
        "elbis",
    ],
    "allennlp.models:Model": [
        "siamese_classifier",
        "sentence_classifier",
        "sentmatch_esim",
        "sentmatch_bcn",
        "lstmn_classifier",
        "attentive_ranker",
        "cs_lvm",
        "vae_siamese",
        "ensemble",
    ],
    "allennlp.data:DatasetReader": [
        "sentence_pair",
        "single_sentence",
        "sentiment_trees",
        "answer_selection",
    ],
    "allennlp.data:Tokenizer": ["spacy_blank"],
    "allennlp.data:DataLoader": ["semi_supervised"],
    "allennlp.predictors:Predictor": [
        "sentence_pair",
        "single_sentence",
        "answer_ranker",
        "pair_generator",
    ],
    "allennlp.training.metrics:Metric": [
        "mean_average_precision",
        "mean_reciprocal_rank",
        "distinct-1",
        "distinct-2",
    ],
    "allennlp.modules.token_embedders:TokenEmbedder": ["cove"],
    "allennlp.commands:Subcommand": [
        "demo",
        "encode",
        "ensemble",
        "evaluate-generator",
        "inspect",
        "search",
    ],
}
"""The registered names of each base class."""

RESOLVE = """
import importlib, json, sys
import allennlp_sentmatch
print(allennlp_sentmatch.__file__)
for base, names in json.loads(sys.argv[1]).items():
    module, name = base.split(":")
    registrable = getattr(importlib.import_module(module), name)
    for registered in names:
        assert registrable.by_name(registered).__module__.startswith("allennlp_sentmatch.")
"""


def resolve_names(python_path: str, folder: Path) -> str:
    """Resolve every name in a fresh process; the path of the package that it found."""
    result = subprocess.run(
        [sys.executable, "-c", RESOLVE, json.dumps(NAMES)],
        cwd=folder,
        env={"PYTHONPATH": python_path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[0]


def test_importing_the_package_registers_every_name(tmp_path):
    resolve_names(str(REPOSITORY), tmp_path)


def test_every_module_can_be_imported():
    """As `--include-package` does, whatever optional libraries are missing."""
    program = (
        "import sys\n"
        "for name in ('triton', 'gradio', 'faiss', 'matplotlib', 'seaborn', 'svgling', 'ray'):\n"
        "    sys.modules[name] = None  # importing it now raises ImportError\n"
        "from allennlp.common.util import import_module_and_submodules\n"
        "import_module_and_submodules('allennlp_sentmatch')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=REPOSITORY)


def test_the_built_sdist_is_complete(tmp_path):
    pytest.importorskip("build")
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(REPOSITORY)], capture_output=True, check=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    target = tmp_path / "installed"
    subprocess.run(
        [*install, "--no-build-isolation", "--target", str(target), str(sdist)],
        capture_output=True,
        check=True,
    )
    found = resolve_names(str(target), tmp_path)
    assert Path(found).is_relative_to(target)
    assert (target / "allennlp_sentmatch" / "py.typed").is_file()
    if CAN_COMPILE:
        compiled = (target / "allennlp_sentmatch" / "nn" / "ops" / "native").glob("*.so")
        names = {file.name.split(".")[0] for file in compiled}
        assert names == {"_lstm_steps", "_lstmn_attention", "_suffix_steps"}


def test_loads_beside_allennlp_models(tmp_path):
    """Neither package registers a name of the other: AllenNLP would refuse the second."""
    pytest.importorskip("allennlp_models")
    program = (
        "import nltk; nltk.download = print  # allennlp-models downloads when it is imported\n"
        "from allennlp.common.util import import_module_and_submodules\n"
        "import_module_and_submodules('allennlp_models')\n"
        "import_module_and_submodules('allennlp_sentmatch')\n"
        "from allennlp.models import Model\n"
        "assert {'esim', 'siamese_classifier'} <= set(Model.list_available())\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
