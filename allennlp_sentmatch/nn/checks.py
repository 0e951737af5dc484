"""Checks of settings, with errors that name the setting."""


def check_positive(**sizes: int) -> None:
    """Raise a `ValueError` that names the first size below 1."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
