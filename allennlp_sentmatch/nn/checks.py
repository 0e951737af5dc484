"""Checks of settings, with errors that name the setting."""

from numbers import Integral


def check_positive(**sizes: int) -> None:
    """Raise a `ValueError` that names the first size that is not an integer of at least 1."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, Integral):
            raise ValueError(f"{name} must be an integer, got {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
