"""A training run of a study: `allennlp train` in a separate process.

So training runs do not affect each other, the system can kill one without ending the study, and
several can run in parallel.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Optional

from allennlp.common.util import JsonDict

POLLING_SECONDS = 0.5
"""The time between two checks of a running training."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a request to end, and a closed terminal."""


class TrainingError(Exception):
    """A training ended without a validation figure; the message is the reason."""


@contextmanager
def training(
    configuration: JsonDict,
    folder: Path,
    include_packages: Sequence[str] = (),
    threads: Optional[int] = None,
    interruption: Optional["Interruption"] = None,
) -> Iterator[Iterator[JsonDict]]:
    """Start a training run, and kill it if the `with` block ends first.

    # Parameters

    configuration : `JsonDict`
    folder : `Path`
        The serialization directory, which does not exist yet. The configuration is written next to
        it, with the suffix `.json`, and the output, `.log`.
    include_packages : `Sequence[str]`, optional (default = `()`)
        As for `allennlp train --include-package`.
    threads : `int`, optional (default = `None`)
        How many threads PyTorch uses; by default, as many as the environment says.
    interruption : `Interruption`, optional (default = `None`)
        What ends the training once it is requested.

    # Returns

    The context is an iterator over the metrics after each epoch, as AllenNLP writes them, until
    training ends. It raises `TrainingError` if training failed, and `KeyboardInterrupt`, in any
    thread, once an `interruption` is requested.
    """
    file = folder.with_suffix(".json")
    file.write_text(json.dumps(configuration, indent=2), encoding="utf-8")
    environment = {} if threads is None else {"OMP_NUM_THREADS": str(threads)}
    log = folder.with_suffix(".log")
    with (
        log.open("w", encoding="utf-8") as output,
        subprocess.Popen(
            _command(file, folder, include_packages),
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # only this process gets Ctrl-C, and ends the training
        ) as process,
    ):
        try:
            yield _epochs(process, folder, log, interruption or Interruption())
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # including the workers of its data loaders


def _command(file: Path, folder: Path, include_packages: Sequence[str]) -> list[str]:
    """Return the command of a training run, for `subprocess`."""
    packages = [part for name in include_packages for part in ("--include-package", name)]
    return [
        sys.executable, "-m", "allennlp", "train", str(file), "--serialization-dir", str(folder),
        "--file-friendly-logging", *packages,
    ]  # fmt: skip


def _epochs(
    process: "subprocess.Popen[bytes]",
    folder: Path,
    log: Path,
    interruption: "Interruption",
) -> Iterator[JsonDict]:
    """Yield the metrics of each epoch once its file is whole; see `training`."""
    for epoch in count():
        path = folder / f"metrics_epoch_{epoch}.json"
        while True:
            has_ended = process.poll() is not None  # asked first, so that its files are complete
            # While they are being written, they are not valid JSON.
            with suppress(FileNotFoundError, json.JSONDecodeError):
                yield json.loads(path.read_text(encoding="utf-8"))
                break
            if has_ended:
                if process.returncode != 0:
                    raise TrainingError(_reason(process.returncode, log))
                return
            interruption.check()
            time.sleep(POLLING_SECONDS)


def _reason(status: int, log: Path) -> str:
    """Return why a run failed: the signal that ended it, or the last line of its log."""
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    last = lines[-1] if lines else f"exit status {status}"
    return last.rpartition("allennlp train: error: ")[2]


class Interruption:
    """A `with` block in which the first of the `SIGNALS` only sets `requested`.

    An interrupted write could leave the study's database locked, so trials check `requested` at
    points where they can end. A second signal raises `KeyboardInterrupt` at once. A signal that is
    ignored, as `nohup` ignores a closed terminal, stays so. The block runs in the main thread, as
    signals do; their earlier handlers return at its end.
    """

    requested = False  # not an `Event`: the main thread may hold its lock when a signal arrives

    def __enter__(self) -> "Interruption":
        self.requested = False
        heeded = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        self._previous = {number: signal.signal(number, self._interrupt) for number in heeded}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if a signal has arrived."""
        if self.requested:
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: Optional[FrameType]) -> None:
        self.check()
        self.requested = True
