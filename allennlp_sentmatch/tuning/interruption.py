"""The signals that end a study."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Optional


@contextmanager
def interruptible(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set `stop`, which other threads watch, and raise `KeyboardInterrupt`.

    Only the main thread can use it. The signals' earlier handlers return at the end.
    """

    def interrupt(number: int, frame: Optional[FrameType]) -> None:
        stop.set()
        raise KeyboardInterrupt

    signals = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(number, interrupt) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, previous):
            signal.signal(number, handler)
