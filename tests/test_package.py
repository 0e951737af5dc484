"""The package as its users meet it: imported, built and installed, and next to allennlp-models."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.conftest import CAN_COMPILE, REPOSITORY, SMALL_QUICK_START
from tests.fresh_process import run_python
from tests.linked_environment import LinkedEnvironment

NAMES = {
    "allennlp.modules:Seq2SeqEncoder": [
        "cas_lstm",
        "subilstm",
        "rcrn",
        "lstmn",
        "stacked_rnn",
        "highway",
    ],
    "allennlp.modules:Seq2VecEncoder": ["gumbel_tree_lstm", "pooled"],
    "allennlp_sentmatch.modules:Matcher": [
        "concat",
        "heuristic",
        "heuristic_difference",
        "symmetric",
        "sum_difference",
        "elbis",
    ],
    "allennlp_sentmatch.modules:PairEncoder": ["lstm", "lstmn", "lstmn_inter_attention"],
    "allennlp_sentmatch.modules:PairScorer": ["cosine", "graded"],
    "allennlp_sentmatch.modules:StepDecoder": ["cas_lstm", "lstm"],
    "allennlp.models:Model": [
        "cross_encoder",
        "cross_encoder_regressor",
        "siamese_classifier",
        "similarity_regressor",
        "sentence_classifier",
        "sentmatch_decomposable_attention",
        "sentmatch_esim",
        "sentmatch_bcn",
        "lstmn_classifier",
        "attentive_ranker",
        "cs_lvm",
        "distilled_encoder",
        "encoder_decoder",
        "rnet",
        "vae_siamese",
        "ensemble",
    ],
    "allennlp.data:DatasetReader": [
        "sentence_pair",
        "single_sentence",
        "sentiment_trees",
        "answer_selection",
        "parallel_text",
        "reading_comprehension",
        "sentence_vectors",
    ],
    "allennlp.data:Tokenizer": ["bpe", "spacy_blank"],
    "allennlp.data:DataLoader": ["semi_supervised"],
    "allennlp.predictors:Predictor": [
        "sentence_pair",
        "single_sentence",
        "answer_ranker",
        "pair_generator",
        "sentence_vector",
        "translation",
        "answer_extractor",
    ],
    "allennlp.training.metrics:Metric": [
        "mean_average_precision",
        "mean_cosine",
        "mean_reciprocal_rank",
        "mean_squared_error",
        "distinct-1",
        "distinct-2",
        "sacre_bleu",
        "answer_overlap",
    ],
    "allennlp.training:TrainerCallback": ["label_check", "thread_check"],
    "allennlp.modules.token_embedders:TokenEmbedder": [
        "cached",
        "cove",
        "pretrained_embedding",
    ],
    "allennlp.commands:Subcommand": [
        "demo",
        "encode",
        "ensemble",
        "evaluate-generator",
        "export",
        "inspect",
        "learn-bpe",
        "search",
    ],
}
"""The registered names of each base class."""

RESOLVE = """
import importlib, json, sys
import allennlp_sentmatch
for base, names in json.loads(sys.argv[1]).items():
    module, name = base.split(":")
    registrable = getattr(importlib.import_module(module), name)
    for registered in names:
        assert registrable.by_name(registered).__module__.startswith("allennlp_sentmatch.")
"""


def test_importing_the_package_registers_every_name(tmp_path):
    environment = {"PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path)}
    result = run_python(RESOLVE, json.dumps(NAMES), cwd=tmp_path, environment=environment)
    assert result.returncode == 0, result.stderr


def test_every_module_can_be_imported():
    """As `--include-package` does, whatever optional libraries are missing."""
    program = (
        "import sys\n"
        "names = ['triton', 'gradio', 'faiss', 'matplotlib', 'seaborn', 'svgling', 'ray', 'onnx',\n"
        "         'optuna', 'rouge_score', 'sacrebleu', 'sentence_transformers']\n"
        "sys.modules.update(dict.fromkeys(names))  # importing them now raises ImportError\n"
        "from allennlp.common.util import import_module_and_submodules\n"
        "import_module_and_submodules('allennlp_sentmatch')\n"
    )
    result = run_python(program)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the sdist and the wheel that is built from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(REPOSITORY)], stdout=subprocess.DEVNULL, check=True)
    return folder


def read_from_wheel(folder: Path, end: str) -> str:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(end))
        return archive.read(name).decode()


def test_the_wheel_has_all_files(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    sources = subprocess.run(
        ["git", "ls-files", "allennlp_sentmatch/*.py"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {*sources, "allennlp_sentmatch/py.typed"} <= names
    if CAN_COMPILE:
        assert any("nn/ops/native/_steps." in name for name in names)


def test_the_plain_package_requires_torch_and_numpy(built):
    lines = read_from_wheel(built, "METADATA").splitlines()
    required = [line[15:] for line in lines if line.startswith("Requires-Dist: ")]
    assert [line for line in required if "extra ==" not in line] == ["torch>=1.12", "numpy"]


def test_the_page_on_a_package_index_has_absolute_links(built):
    description = read_from_wheel(built, "METADATA").partition("\n\n")[2]
    links = re.findall(r"\]\(([^)]+)\)", description)
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_installs_into_an_environment_of_its_own(built, tmp_path):
    """As docs/install.md says: install, add AllenNLP, train. Nothing is taken from here."""
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
    (wheel,) = built.glob("*.whl")

    installed = environment.run("-m", "pip", "install", "--no-index", wheel)
    assert installed.returncode == 0, installed.stdout
    without = environment.run("-m", "allennlp_sentmatch")
    assert without.returncode == 0, without.stdout
    assert "not installed; type `python -m allennlp_sentmatch install-allennlp`" in without.stdout

    first = environment.run("-m", "allennlp_sentmatch", "install-allennlp")
    assert first.returncode == 0, first.stdout
    assert re.findall(r"^  (\S+)==", first.stdout, re.MULTILINE) == [
        reinstalled,
        "allennlp",
        "allennlp-torch-support",
    ]
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
        *("train", "quick_start.jsonnet", "--serialization-dir", "out", "--overrides"),
        *(json.dumps(overrides), "--include-package", "allennlp_sentmatch"),
        program="allennlp",
    )
    assert trained.returncode == 0, trained.stdout
    assert (environment.folder / "out" / "model.tar.gz").is_file()


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
    result = run_python(program)
    assert result.returncode == 0, result.stderr
