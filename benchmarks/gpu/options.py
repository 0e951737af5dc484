"""The options that the measurements for GPUs share."""

import argparse
from pathlib import Path
from typing import Optional


def option_parser(description: Optional[str]) -> argparse.ArgumentParser:
    """Return a parser of `--device` and `--output`, described by a docstring's first line."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--output", type=Path, required=True, help="without an ending")
    return parser
