"""Ending a command at SIGTERM as at Ctrl-C, so that its temporary files are removed."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial


@contextmanager
def ending_at_sigterm(program: str) -> Iterator[None]:
    """Let SIGTERM end the block, with a message of the `program`.

    By default, Python would end without removing temporary files. AllenNLP's handler raises an
    `Exception`, after which code that records errors would go on. Only the main thread can set a
    handler, and a process that is forked in the block says nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, partial(_end, program, os.getpid()))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _end(program: str, process: int, *_: object) -> None:
    """Exit, with a message unless the process was forked from the `process`."""
    sys.exit(f"{program}: stopped by SIGTERM" if os.getpid() == process else 1)
