"""A trial's process is followed, and ended with the study."""

import os
import signal
import sys

import pytest

from allennlp_sentmatch.tuning import training as module
from allennlp_sentmatch.tuning.training import Interruption, TrainingError, training


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def processes(monkeypatch):
    """The processes that are started."""
    started = []
    start = module.subprocess.Popen

    def recorded(*arguments, **options):
        started.append(start(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(module.subprocess, "Popen", recorded)
    return started


def test_the_command(tmp_path):
    command = module._command(tmp_path / "0.json", tmp_path / "0", ["mine", "others"])
    assert command == [
        sys.executable, "-m", "allennlp", "train", str(tmp_path / "0.json"), "--serialization-dir",
        str(tmp_path / "0"), "--file-friendly-logging", "--include-package", "mine",
        "--include-package", "others",
    ]  # fmt: skip


def test_a_training_that_is_killed(curves, processes, tmp_path):
    curves.set({1.0: [0.5, "hang"]})
    with training(curves.configuration, tmp_path / "0") as epochs:
        next(epochs)
        os.kill(processes[0].pid, signal.SIGKILL)
        with pytest.raises(TrainingError, match=r"^killed by SIGKILL$"):
            next(epochs)


def test_a_file_that_is_still_being_written_is_read_later(curves, monkeypatch, tmp_path):
    contents = iter(['{"epoch": ', '{"epoch": 0}'])
    monkeypatch.setattr(module.Path, "read_text", lambda *_, **__: next(contents))
    process = type("Process", (), {"poll": lambda self: None})()
    assert next(module._epochs(process, tmp_path, tmp_path, Interruption())) == {"epoch": 0}


def test_the_process_ends_with_the_block_or_at_an_interruption(curves, processes, tmp_path):
    curves.set({1.0: [0.5, "hang"]})
    interruption = Interruption()
    with training(curves.configuration, tmp_path / "0", interruption=interruption) as epochs:
        next(epochs)
        assert is_alive(processes[0].pid)
    assert not is_alive(processes[0].pid)
    with training(curves.configuration, tmp_path / "1", interruption=interruption) as epochs:
        next(epochs)
        interruption.requested = True
        with pytest.raises(KeyboardInterrupt):
            next(epochs)
    assert not is_alive(processes[1].pid)


@pytest.fixture(params=module.SIGNALS)
def number(request):
    """A signal, which is not ignored: the tests may run in the background."""
    handler = signal.signal(request.param, signal.default_int_handler)
    yield request.param
    signal.signal(request.param, handler)


def test_an_ignored_signal_stays_so(number):
    """`nohup` lets a study go on when its terminal is closed."""
    signal.signal(number, signal.SIG_IGN)
    with Interruption() as interruption:
        signal.raise_signal(number)
        interruption.check()
    assert signal.getsignal(number) is signal.SIG_IGN


def test_only_the_second_signal_is_an_error(number):
    handler = signal.getsignal(number)
    with Interruption() as interruption:
        signal.raise_signal(number)
        assert interruption.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is handler
    with interruption:
        assert not interruption.requested
