"""Fixtures for all tests."""

import gc
import json
import logging
import shutil
import signal
import sys
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Callable, Optional, Union

import pytest
import torch

REPOSITORY = Path(__file__).resolve().parents[1]

CAN_COMPILE = bool(shutil.which("c++"))
"""True if installing the package here compiles its C++."""

SMALL_QUICK_START = {
    "train_data_path": "fixtures/quick_start/validation.tsv",
    "validation_data_path": "fixtures/quick_start/test.tsv",
    "dataset_reader.token_indexers": None,
    "model.text_field_embedder": {
        "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}
    },
    "model.encoder": {
        "type": "pooled",
        "encoder": {"type": "cas_lstm", "input_size": 4, "hidden_size": 3, "bidirectional": True},
        "pooling": "max",
    },
    "model.classifier.hidden_size": 5,
    "trainer.num_epochs": 1,
    "data_loader.batch_size": 100,
}
"""Overrides that make the quick start's configuration train in a second or two, from scratch."""

LARGE_WEIGHTS = {"model.initializer": {"regexes": [["weight", {"type": "normal", "std": 1.5}]]}}
"""Without them, so little training leaves all pairs nearly the same probabilities."""


def pytest_configure() -> None:
    """Let SIGINT raise `KeyboardInterrupt`: shells start background commands with it ignored.

    Switch off garbage collection during imports: nearly all of their objects stay.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector ignore the libraries' objects. Each full collection would visit two
    million of them, which takes half a second.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def train_quick_start(
    folder: Path, encoder: Optional[dict[str, Any]] = None, recover: bool = False, **overrides: Any
) -> Any:
    """Train the small quick start, with another encoder if there is one, and return the model."""
    from allennlp.commands.train import train_model
    from allennlp.common import Params

    import allennlp_sentmatch  # noqa: F401  (registers the components)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        settings = {**SMALL_QUICK_START, **overrides}
        params = Params.from_file("training_config/quick_start.jsonnet", json.dumps(settings))
        if encoder is not None:
            params.params["model"]["encoder"] = deepcopy(encoder)
        return train_model(params, folder, recover=recover)


@pytest.fixture(scope="session", autouse=True)
def _plugins_are_imported_once() -> Iterator[None]:
    """AllenNLP searches all modules of all plugins in each command, which takes a second."""
    if "allennlp.commands" not in sys.modules:  # no test needs it
        yield
        return
    from allennlp import commands
    from allennlp.common import plugins

    import_plugins = cache(plugins.import_plugins)
    with pytest.MonkeyPatch.context() as patch:
        for module in (plugins, commands):
            patch.setattr(module, "import_plugins", import_plugins)
        yield


@pytest.fixture(scope="session", autouse=True)
def _json_needs_no_jsonnet() -> Iterator[None]:
    """AllenNLP has Jsonnet evaluate each archive's configuration and each text of overrides."""
    if "allennlp.common" not in sys.modules:  # no test needs it
        yield
        return
    from allennlp.common import params

    from tests.plain_json import file_evaluator, snippet_evaluator

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(params, "evaluate_file", file_evaluator(params.evaluate_file))
        patch.setattr(params, "evaluate_snippet", snippet_evaluator(params.evaluate_snippet))
        yield


@pytest.fixture(autouse=True)
def _logs_end_with_a_test() -> Iterator[None]:
    """`allennlp train` logs to a file and to the current streams until the process ends, but pytest
    closes these.
    """
    _remove_log_handlers()
    yield
    _remove_log_handlers()


def _remove_log_handlers() -> None:
    for logger in (logging.getLogger(), logging.getLogger("tqdm")):
        for handler in logger.handlers[:]:
            # pytest's own handlers belong to subclasses.
            if type(handler) in (logging.StreamHandler, logging.FileHandler):
                logger.removeHandler(handler)
                handler.close()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The repository's root."""
    return REPOSITORY


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The small inputs that this repository wrote for its tests."""
    return REPOSITORY / "fixtures"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets next to the repository, if there is one."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the public data sets were not found (looked for {folder})")
    return folder


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Writes a file and returns its path; by default it is `data.txt`."""

    def write(content: Union[str, bytes], name: str = "data.txt") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def allennlp(monkeypatch) -> Callable[..., None]:
    """Runs an `allennlp` command in this process, by default from the repository's root."""
    from allennlp.commands import main

    def run(*arguments: object, cwd: Path = REPOSITORY) -> None:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
        main(prog="allennlp")

    return run


@pytest.fixture
def simulated_gpu(monkeypatch) -> Iterator[Any]:
    """AllenNLP's GPU 0, as a `SimulatedDevice`."""
    from allennlp.common.util import int_to_device
    from allennlp.nn import util

    from tests.simulated_device import NAME, SimulatedDevice

    with SimulatedDevice() as device:
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
        monkeypatch.setattr(torch.nn.Module, "cuda", lambda module, device=None: module.to(NAME))
        monkeypatch.setattr(util, "get_device_of", lambda tensor: tensor.get_device())
        monkeypatch.setattr(
            util,
            "get_range_vector",
            lambda size, device: torch.arange(size, device=int_to_device(device)),
        )
        # Weights are read on the CPU, then copied to the model.
        monkeypatch.setattr(util, "device_mapping", lambda device: torch.device("cpu"))
        yield device


@pytest.fixture(scope="session")
def small_archive(tmp_path_factory) -> Path:
    """A siamese classifier trained for a moment, as `model.tar.gz` in its output folder."""
    folder = tmp_path_factory.mktemp("small_archive") / "model"
    train_quick_start(folder, **LARGE_WEIGHTS)
    return folder / "model.tar.gz"


@pytest.fixture(scope="session")
def generator_archives(tmp_path_factory) -> list[str]:
    """Archives of a `cs_lvm` and of a classifier, trained for a moment on the same pairs."""
    from allennlp.commands.train import train_model_from_file

    folder = tmp_path_factory.mktemp("generator_archives")
    pairs = str(REPOSITORY / "fixtures" / "data" / "snli.jsonl")
    overrides = json.dumps({"train_data_path": pairs, "validation_data_path": pairs})
    for name in ("cs_lvm", "vae_siamese"):
        config = REPOSITORY / "fixtures" / "models" / f"{name}.jsonnet"
        train_model_from_file(str(config), str(folder / name), overrides)
    return [str(folder / name / "model.tar.gz") for name in ("cs_lvm", "vae_siamese")]


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> str:
    """The folder of a BERT of 8 units with random weights and a tokenizer for English letters."""
    from tests.tiny_bert import save_tiny_bert

    folder = tmp_path_factory.mktemp("tiny_bert")
    save_tiny_bert(folder)
    return str(folder)


@pytest.fixture(scope="session")
def untrained_predictor() -> Callable[..., Any]:
    """Makes a predictor of a configuration in fixtures/models, with `settings` in its model's."""
    from tests.models.samples import Sample

    def make(name: str, **settings: Any) -> Any:
        chosen = Sample(name)
        return chosen.predictor(chosen.construct(**settings))

    return make
