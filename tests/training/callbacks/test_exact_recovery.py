"""Training that is interrupted and recovered ends as uninterrupted training, bit for bit."""

import json
import random
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Optional

import numpy
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.training import Checkpointer, TrainerCallback

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.training.callbacks import ExactRecovery, exact_recovery
from allennlp_sentmatch.training.callbacks.exact_recovery import random_state, set_random_state
from allennlp_sentmatch.training.checkpointers import AtomicCheckpointer
from tests.conftest import REPOSITORY, SMALL_QUICK_START

PART = {"path": "fixtures/quick_start/validation.tsv", "folds": {"number": 5, "keep": [0]}}

CONFIGURATIONS = {
    "quick_start": (
        "training_config/quick_start.jsonnet",
        {
            **SMALL_QUICK_START,
            "dataset_reader.max_instances": 64,
            "data_loader.batch_size": 16,
            "model.embedding_dropout": 0.3,
            "model.classifier.dropout": 0.3,
            "trainer.learning_rate_scheduler": {"type": "cosine", "t_initial": 4},
        },
    ),
    # The validation's unlimited loader keeps no position over epochs.
    "parts_of_a_pass": (
        "training_config/quick_start.jsonnet",
        {
            **SMALL_QUICK_START,
            "train_data_path": PART,
            "validation_data_path": PART,
            "data_loader.batch_size": 8,
            "data_loader.batches_per_epoch": 4,
            "model.classifier.dropout": 0.3,
            "trainer.learning_rate_scheduler": {"type": "reduce_on_plateau", "patience": 0},
        },
    ),
    # Parameters are unfrozen after each epoch except the last, and the second epoch is not
    # validated.
    "averaged": (
        "training_config/quick_start.jsonnet",
        {
            **SMALL_QUICK_START,
            "dataset_reader.max_instances": 64,
            "data_loader.batch_size": 16,
            "trainer.moving_average": {"type": "exponential", "decay": 0.9},
            "trainer.optimizer.parameter_groups": [
                [[f"^{part}"], {}] for part in ("_text_field_embedder", "_encoder", "_classifier")
            ],
            "trainer.learning_rate_scheduler": {
                "type": "slanted_triangular",
                "gradual_unfreezing": True,
            },
            "trainer.callbacks": [{"type": "should_validate_callback", "validation_interval": 2}],
        },
    ),
    "cs_lvm": (
        "fixtures/models/cs_lvm.jsonnet",
        {
            "data_loader.batch_size": 1,
            "data_loader.num_labeled": 3,
            "trainer.callbacks": ["constraint_update"],
        },
    ),
}
"""A configuration and what makes it small, by name: four batches an epoch, dropout, shuffled."""


def params(name: str, **overrides: Any) -> Params:
    """The configuration `name` with other settings of its trainer."""
    path, small = CONFIGURATIONS[name]
    overrides = {f"trainer.{key}": value for key, value in overrides.items()}
    return Params.from_file(REPOSITORY / path, {**small, **overrides})


def outcome(folder: Path, training_metrics: bool) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The weights in an archive, and the metrics except times and memory."""
    with tarfile.open(folder / "model.tar.gz") as archive:
        weights = torch.load(archive.extractfile("weights.th"))
    metrics = json.loads((folder / "metrics.json").read_text())
    varying = ("_MB", "duration", "training_start_epoch", "training_epochs")
    return weights, {
        key: value
        for key, value in metrics.items()
        if not key.endswith(varying) and (training_metrics or not key.startswith("training_"))
    }


def assert_same_outcome(folder: Path, expected: Path, training_metrics: bool = True) -> None:
    """The same operations on the same shapes in the same order: equal bit for bit."""
    weights, metrics = outcome(folder, training_metrics)
    expected_weights, expected_metrics = outcome(expected, training_metrics)
    assert metrics == expected_metrics
    assert weights.keys() == expected_weights.keys()
    different = [name for name in weights if not torch.equal(weights[name], expected_weights[name])]
    assert not different


@TrainerCallback.register("tests_interrupter")
class Interrupter(TrainerCallback):
    """Interrupts training after `batches_left` training batches."""

    batches_left: ClassVar[Optional[int]] = None

    def on_batch(self, *args, is_training, **kwargs):
        if is_training and Interrupter.batches_left is not None:
            Interrupter.batches_left -= 1
            if Interrupter.batches_left == 0:
                raise InterruptedError


LOW_RATE = {"type": "minimum_learning_rate", "minimum": 1.0}
"""Ends training after its first epoch."""


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def train(settings: Params, folder, interrupt_after: Optional[int] = None, recover=False) -> None:
    Interrupter.batches_left = interrupt_after
    callbacks = settings.params["trainer"].get("callbacks", [])
    settings.params["trainer"]["callbacks"] = ["tests_interrupter", *callbacks]
    if interrupt_after is None:
        train_model(settings, str(folder), recover=recover)
        return
    with pytest.raises(InterruptedError):
        train_model(settings, str(folder), recover=recover)


@pytest.mark.parametrize(
    ("name", "checkpointer", "batches_later"),
    [
        ("quick_start", {"save_every_num_batches": 2}, (2, 3)),
        ("parts_of_a_pass", {}, ()),
        ("averaged", {}, (2, 3)),
        ("cs_lvm", {"save_every_num_batches": 2}, ()),
    ],
)
def test_equals_uninterrupted_training(name, checkpointer, batches_later, tmp_path):
    settings = {"num_epochs": 3, "checkpointer": checkpointer}
    train(params(name, **settings), tmp_path / "whole")
    # At the third batch of the second epoch, then at its last, then at the first of the third.
    train(params(name, **settings), tmp_path / "broken", interrupt_after=7)
    for batches in batches_later:
        train(
            params(name, **settings),
            tmp_path / "broken",
            batches,
            recover=True,
        )
    train(params(name, **settings), tmp_path / "broken", recover=True)
    assert_same_outcome(
        tmp_path / "broken",
        tmp_path / "whole",
        training_metrics="save_every_num_batches" not in checkpointer,
    )


@pytest.mark.parametrize(
    ("settings", "killed_after", "best_epoch"),
    [
        ({"num_epochs": 2}, 1, 0),  # the best weights, then worse ones
        ({"num_epochs": 2, "patience": 1}, 2, 0),  # nothing was left to train
        ({"num_epochs": 4, "patience": 1}, 2, 0),  # patience had run out
        ({"num_epochs": 4, "callbacks": [LOW_RATE]}, 1, 0),
    ],
    ids=["best", "last", "patience", "rate"],
)
def test_killed_right_after_the_checkpoint_of_an_epoch(
    settings, killed_after, best_epoch, tmp_path, monkeypatch
):
    # As training lowers the loss, the first epoch is the best.
    settings = {**settings, "validation_metric": "+loss"}
    train(params("quick_start", **settings), tmp_path / "whole")
    assert json.loads((tmp_path / "whole/metrics.json").read_text())["best_epoch"] == best_epoch

    class Killed(AtomicCheckpointer):
        def save_checkpoint(self, trainer):
            super().save_checkpoint(trainer)
            if trainer._epochs_completed == killed_after:
                raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setitem(Checkpointer._registry[Checkpointer], "atomic", (Killed, None))
        with pytest.raises(InterruptedError):
            train(params("quick_start", **settings), tmp_path / "broken")
    (tmp_path / "broken").rename(tmp_path / "moved")
    train(params("quick_start", **settings), tmp_path / "moved", recover=True)
    assert_same_outcome(tmp_path / "moved", tmp_path / "whole")


def test_a_checkpoint_without_random_states_is_said_to_lack_them(tmp_path, monkeypatch):
    warnings = []
    monkeypatch.setattr(exact_recovery.logger, "warning", lambda text, *_: warnings.append(text))
    settings = {"num_epochs": 1, "checkpointer": {"save_every_num_batches": 1}}
    with monkeypatch.context() as patch:
        patch.setattr(ExactRecovery, "state_dict", lambda self: {})
        train(params("quick_start", **settings), tmp_path / "old", interrupt_after=2)
    train(params("quick_start", **settings), tmp_path / "old", recover=True)
    assert ["lacks random states" in warning for warning in warnings] == [True]
    assert (tmp_path / "old/metrics.json").is_file()


def test_random_states_are_saved_and_set(tmp_path):
    for seed in (random.seed, numpy.random.seed, torch.manual_seed):
        seed(5)
    random.gauss(0, 1)
    numpy.random.normal()  # keeps its second number for the next call
    torch.save(random_state(), tmp_path / "state.th")

    def draw():
        return random.gauss(0, 1), random.random(), numpy.random.normal(), torch.rand(1).item()

    expected = [draw() for _ in range(3)]
    # Without `weights_only` before torch 1.13; with it by default since 2.6.
    state = torch.load(tmp_path / "state.th")
    set_random_state(state)
    assert [draw() for _ in range(3)] == expected


def test_training_on_a_gpu_goes_on_elsewhere(simulated_gpu):
    def draw(device):
        return torch.rand(3, device=device).tolist()

    gpu = torch.device(0)
    state = random_state(gpu)
    expected = draw(gpu)
    set_random_state(state)
    assert draw(gpu) != expected
    set_random_state(state, gpu)
    assert draw(gpu) == expected
    set_random_state(random_state(), gpu)  # it has no state of a GPU
    assert draw(gpu) != expected


def pretended_trainer(best=True, moving_average=None):
    """Test the weights after two epochs."""
    tracker = SimpleNamespace(should_stop_early=lambda: False, is_best_so_far=lambda: best)
    return SimpleNamespace(
        data_loader=[1, 2],
        cuda_device=torch.device("cpu"),
        model=torch.nn.Linear(1, 1),
        _num_epochs=3,
        _epochs_completed=2,
        _start_after_epochs_completed=2,
        _start_after_batches_in_epoch_completed=0,
        _best_model_filename=None,
        _metric_tracker=tracker,
        _moving_average=moving_average,
        _ddp_wrapped_model=None,
        _scaler=None,
    )


@pytest.mark.parametrize(
    ("best", "is_primary", "written"),
    [
        (True, True, True),
        (False, True, False),
        (True, False, False),
    ],
)
def test_the_best_weights_after_two_epochs(best, is_primary, written, tmp_path):
    trainer = pretended_trainer(best)
    callback = ExactRecovery(str(tmp_path))
    callback.load_state_dict({"epoch_starts": []})
    callback.on_start(trainer, is_primary=is_primary)
    assert (tmp_path / "best.th").is_file() == written
    if written:
        weights = torch.load(tmp_path / "best.th")
        torch.testing.assert_close(weights, trainer.model.state_dict(), rtol=0, atol=0)


def test_the_best_weights_are_moving_averages(tmp_path):
    class Tens:
        def assign_average_value(self):
            trainer.model.bias.data += 10

        def restore(self):
            trainer.model.bias.data -= 10

    trainer = pretended_trainer(moving_average=Tens())
    trainer.model.bias.data.zero_()
    ExactRecovery(str(tmp_path)).on_start(trainer)
    assert torch.load(tmp_path / "best.th")["bias"].item() == 10
    assert trainer.model.bias.item() == 0


def test_the_trainer_gets_its_loader_back(tmp_path):
    trainer = pretended_trainer(best=False)
    own = trainer.data_loader
    callback = ExactRecovery(str(tmp_path))
    callback.on_start(trainer)
    assert trainer.data_loader is not own
    callback.on_end(trainer)
    assert trainer.data_loader is own
