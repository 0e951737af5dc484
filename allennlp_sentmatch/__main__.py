"""`python -m allennlp_sentmatch`: describe the environment, install AllenNLP, serve an encoder."""

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
    words = sys.argv[1:] if arguments is None else arguments
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
    serving = commands.add_parser(
        "serve",
        help="serve an encoder or a fitted estimator over HTTP",
        description="Serve vectors, similarities and predictions over HTTP.",
    )
    serving.add_argument(
        "source",
        help="the folder of an exported encoder or of a saved PairClassifier or PairRegressor; or "
        "`package`, the encoder in this package",
    )
    if words[:1] == ["serve"]:  # needs numpy, which may not be there before `install-allennlp`
        from allennlp_sentmatch.serving import create_app, serve, service_at
        from allennlp_sentmatch.serving.server import add_server_options

        add_server_options(serving, port=8000)
    options = parser.parse_args(words)
    if options.command is None:
        print(describe_environment())
    elif options.command == "serve":
        try:
            service = service_at(options.source)
            most = service.most_words() if options.max_words is None else options.max_words
            app = create_app(service, options.batch_size, options.allowed_host, most)
            print(service.summary())
            serve(app, options.host, options.port, "model")
        except (ImportError, OSError, ValueError) as error:
            sys.exit(f"serve: {error}")
        return
    else:
        try:
            install_allennlp(options.constraint, options.dry_run)
        except InstallationError as error:
            sys.exit(f"install-allennlp: {error}.")
    if not has_compiled_steps():
        print(WITHOUT_COMPILED_STEPS)


if __name__ == "__main__":
    main()
