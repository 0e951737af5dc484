"""The `serve` subcommand answers programs with a model's predictions over HTTP.

POST to `/predict` what is a line of the input of `allennlp predict`. The server is accessible only
from this machine, unless `--host` is given.
"""

import argparse
from functools import partial

from allennlp.commands.subcommand import Subcommand
from allennlp.predictors import Predictor

from allennlp_sentmatch.commands.command import Command, add_address_options
from allennlp_sentmatch.data.files.json_lines import parse_json_object
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.serving import create_app, serve


@Subcommand.register("serve")
class Serve(Command):
    """Serve a model's predictions over HTTP."""

    shared_options = ("--cuda-device", "--overrides", "--trust-archive")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="path to an archived model")
        parser.add_argument("--predictor", help="its registered name (default: the model's own)")
        parser.add_argument(
            "--predictor-args",
            type=partial(parse_json_object, where="--predictor-args", expected="an object"),
            default={},
            help="JSON with further settings of the predictor, such as '{\"threshold\": 0.8}'",
        )
        parser.add_argument(
            "--batch-size", type=int, default=32, help="inputs that are predicted at a time"
        )
        parser.add_argument(
            "--max-words",
            type=int,
            help="the dearest input costs as much as one text of that many words (default: up to "
            "1,000, as many as the model reads in 10 seconds; measured at the start)",
        )
        add_address_options(parser, port=8000)

    def run(self, args: argparse.Namespace) -> None:
        archive = load_archive(
            args.archive_file, args.cuda_device, args.trust_archive, overrides=args.overrides
        )
        predictor = Predictor.from_archive(archive, args.predictor, extra_args=args.predictor_args)
        app = create_app(predictor, args.batch_size, args.allowed_host, args.max_words)
        serve(app, args.host, args.port, "model")
