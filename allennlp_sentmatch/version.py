"""The version of the package, read by pyproject.toml."""

__version__ = "0.2.0"
