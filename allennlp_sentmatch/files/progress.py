"""Progress bars for long work, on the standard error."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Optional, TypeVar

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10

SECONDS_WITHOUT_BAR = 3  # seconds before a bar appears by default

on_separate_lines = False
"""Whether progress is written as separate lines, for a file, instead of one changing line."""


_default: ContextVar[Optional[bool]] = ContextVar("default", default=None)


@contextmanager
def showing_progress(is_shown: Optional[bool]) -> Iterator[None]:
    """Let `is_shown` be the default of the progress bars created within the context.

    With `None`, a bar appears after some seconds on a terminal; see `progress_bar`.
    """
    token = _default.set(is_shown)
    try:
        yield
    finally:
        _default.reset(token)


def progress_bar(total: int, description: str, unit: str, is_shown: Optional[bool] = None) -> Any:
    """Return a bar for `total` steps, a context manager with the method `update(number)`.

    It shows the `description` and the number of steps, each with the `unit`. By default, it appears
    after `SECONDS_WITHOUT_BAR`, on a terminal and if tqdm is installed.
    """
    if is_shown is None:
        is_shown = _default.get()
    is_wanted = is_shown
    if is_wanted is None:
        is_wanted = sys.stderr is not None and sys.stderr.isatty() and bool(find_spec("tqdm"))
    if not is_wanted:
        return _NoBar()
    from tqdm import tqdm

    options: dict[str, Any] = {"total": total, "desc": description, "unit": unit}
    if is_shown is None:
        options["delay"] = SECONDS_WITHOUT_BAR
    elif on_separate_lines:
        options["file"] = _Lines()
        options["mininterval"] = SECONDS_BETWEEN_LINES
    return tqdm(**options)


def progress_over(
    elements: Sequence[T],
    description: str,
    is_shown: Optional[bool] = None,
) -> Iterator[T]:
    """Yield the elements, and show how many are done; see `progress_bar` for `is_shown`."""
    with progress_bar(len(elements), description, "", is_shown) as progress:
        for element in elements:
            yield element
            progress.update(1)


class _NoBar:
    """Replaces a bar that is not shown."""

    def __enter__(self) -> "_NoBar":
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def update(self, number: int) -> None:
        """Show nothing."""


class _Lines:
    """Standard error on which each state of a progress bar is a line."""

    def write(self, text: str) -> None:
        """Write a state as a line."""
        line = text.strip("\r\n")
        if line:
            sys.stderr.write(f"{line}\n")

    def flush(self) -> None:
        """Flush the standard error."""
        sys.stderr.flush()
