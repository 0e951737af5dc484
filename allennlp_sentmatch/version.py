"""The version of the package, read by setup.py."""

__version__ = "0.2.0"
