"""The mathematics of the package as plain PyTorch: importable where only torch is installed."""
