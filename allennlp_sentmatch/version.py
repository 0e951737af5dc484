"""The version of the package, read by setup.py."""

__version__ = "0.1.0"
