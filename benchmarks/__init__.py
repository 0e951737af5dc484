"""Measurements of speed and quality; each file is called as `python -m benchmarks.<name>`."""
