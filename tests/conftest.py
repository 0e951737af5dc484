"""Fixtures that every test may use."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The small inputs that this repository wrote for its tests."""
    return REPOSITORY / "fixtures"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets beside the repository, where there is one."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the public data sets are not at hand (looked for {folder})")
    return folder
