"""`python -m allennlp_sentmatch`: describe the environment, or install AllenNLP into it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from allennlp_sentmatch.environment import (
    WITHOUT_COMPILED_STEPS,
    describe_environment,
    has_compiled_steps,
)
from allennlp_sentmatch.installation import InstallationError, install_allennlp


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Run the command that `arguments` name."""
    parser = argparse.ArgumentParser(
        prog="python -m allennlp_sentmatch",
        description="Without a command: print what to paste into a bug report.",
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    install = commands.add_parser(
        "install-allennlp",
        help="install AllenNLP 2.10.1 for the installed version of torch",
        description="Install AllenNLP 2.10.1 and its requirements, without changing torch.",
    )
    install.add_argument(
        "--constraint", type=Path, metavar="FILE", help="pip constraints file, for exact versions"
    )
    install.add_argument("--dry-run", action="store_true", help="only say what would be installed")
    options = parser.parse_args(arguments)
    if options.command is None:
        print(describe_environment())
    else:
        try:
            install_allennlp(options.constraint, options.dry_run)
        except InstallationError as error:
            sys.exit(f"install-allennlp: {error}.")
    if not has_compiled_steps():
        print(WITHOUT_COMPILED_STEPS)


if __name__ == "__main__":
    main()
