"""The `serve` subcommand answers programs with a model's predictions over HTTP.

POST to `/predict` what is a line of the input of `allennlp predict`. The server is accessible only
from this machine, unless `--host` is given.
"""

import argparse
import json

from allennlp.commands.subcommand import Subcommand
from allennlp.predictors import Predictor

from allennlp_sentmatch.commands.options import (
    add_address_options,
    add_device_option,
    add_overrides_option,
    add_trust_option,
    add_verbose_option,
)
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.serving import create_app, serve


@Subcommand.register("serve")
class Serve(Subcommand):
    """`allennlp serve ARCHIVE [--host HOST] [--port PORT]`."""

    def add_subparser(
        self,
        parser: "argparse._SubParsersAction[argparse.ArgumentParser]",
    ) -> argparse.ArgumentParser:
        """Describe the command line."""
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=__doc__, help="Serve a model's predictions over HTTP."
        )
        subparser.add_argument("archive_file", help="path to an archived model")
        subparser.add_argument(
            "--predictor", help="such as sentence_vector (default: the model's own)"
        )
        subparser.add_argument(
            "--predictor-args",
            type=_json_object,
            default={},
            help="JSON with further settings of the predictor, such as '{\"threshold\": 0.8}'",
        )
        subparser.add_argument(
            "--batch-size", type=int, default=32, help="inputs that are predicted at a time"
        )
        add_address_options(subparser, port=8000)
        add_device_option(subparser)
        add_overrides_option(subparser)
        add_trust_option(subparser)
        add_verbose_option(subparser)
        subparser.set_defaults(func=_from_args)
        return subparser


def _json_object(text: str) -> dict[str, object]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError
    return value


def _from_args(args: argparse.Namespace) -> None:
    archive = load_archive(
        args.archive_file, args.cuda_device, args.trust_archive, overrides=args.overrides
    )
    predictor = Predictor.from_archive(archive, args.predictor, extra_args=args.predictor_args)
    serve(create_app(predictor, args.batch_size, args.allowed_host), args.host, args.port, "model")
