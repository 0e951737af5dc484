"""A fixture of the tests of data."""

from pathlib import Path
from typing import Callable, Union

import pytest


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Writes a file and returns its path; by default it is `data.txt`."""

    def write(content: Union[str, bytes], name: str = "data.txt") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
