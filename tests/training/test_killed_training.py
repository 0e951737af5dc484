"""Training whose process is killed at random moments has the same result."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.training.callbacks.test_exact_recovery import CONFIGURATIONS, assert_same_outcome, params

NUM_KILLS = 5


def start(settings: Path, folder: Path, *options: str) -> subprocess.Popen:
    command = ["train", str(settings), "-s", str(folder), *options]
    with Path(f"{folder}.log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "allennlp", *command, "--include-package", "allennlp_sentmatch"],
            cwd=REPOSITORY,
            stdout=log,
            stderr=log,
        )


def num_batches(folder: Path) -> int:
    """The number of batches that the latest checkpoint has seen; there are four in an epoch."""
    points = [path.stem.split("_")[2:4] for path in folder.glob("model_state_*.th")]
    return max((4 * int(epoch[1:]) + int(batch[1:]) for epoch, batch in points), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("checkpointer", [{}, {"save_every_num_batches": 3}], ids=str)
def test_five_kills(name, checkpointer, tmp_path):
    num_epochs = 48
    settings = tmp_path / "settings.json"
    params(name, num_epochs=num_epochs, checkpointer=checkpointer).to_file(str(settings))
    whole = tmp_path / "whole"
    broken = tmp_path / "broken"
    assert start(settings, whole).wait() == 0

    moments = random.Random(name)
    for kill in range(NUM_KILLS):
        training = start(settings, broken, *(["--recover"] if kill else []))
        # After at least another eighth of the training, at a random moment within some batches.
        while num_batches(broken) < 4 * num_epochs * (kill + 1) // 8:
            assert training.poll() is None, Path(f"{broken}.log").read_text()[-2000:]
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.2))
        training.kill()
        assert training.wait() == -9
    assert start(settings, broken, "--recover").wait() == 0
    assert_same_outcome(broken, whole, training_metrics=not checkpointer)
