"""Fixtures of the tests of files."""

from pathlib import Path
from typing import Callable, Union

import pytest


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Writes a file and returns its path; by default it is `data.txt`."""

    def write(content: Union[str, bytes], name: str = "data.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
