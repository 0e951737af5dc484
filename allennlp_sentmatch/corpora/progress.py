"""Bars that show the progress of long work on the standard error."""

import sys
from typing import Any

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10

on_separate_lines = False
"""Whether progress is written as lines, for a file, instead of one line that changes."""


def progress_bar(total: int, description: str, unit: str, is_shown: bool = True) -> Any:
    """Return a bar, a context manager with `update(number)`."""
    options: dict[str, Any] = {"total": total, "desc": description, "unit": unit}
    if on_separate_lines:
        options["file"] = _Lines()
        options["mininterval"] = SECONDS_BETWEEN_LINES
    return tqdm(disable=not is_shown, **options)


class _Lines:
    """The standard error, with a line for each state of a bar."""

    def write(self, text: str) -> None:
        """Write a state as a line."""
        line = text.strip("\r\n")
        if line:
            sys.stderr.write(f"{line}\n")

    def flush(self) -> None:
        """Flush the standard error."""
        sys.stderr.flush()
