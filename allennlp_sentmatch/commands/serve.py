"""The `serve` subcommand answers programs with a model's predictions over HTTP.

POST to `/predict` what is a line of the input of `allennlp predict`. The server is accessible only
from this machine, unless `--host` is given.
"""

import argparse
from functools import partial
from typing import Any, ClassVar

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.models import Archive
from allennlp.predictors import Predictor

from allennlp_sentmatch.commands.command import Command, add_address_options
from allennlp_sentmatch.data.files.json_lines import parse_json_object
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.serving import Service, create_app, serve, service_of
from allennlp_sentmatch.serving.limits import affordable_words


@Subcommand.register("serve")
class Serve(Command):
    """Serve a model's predictions over HTTP."""

    shared_options = ("--cuda-device", "--overrides", "--trust-archive")
    port: ClassVar[int] = 8000
    served: ClassVar[str] = "model"

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
        add_address_options(parser, self.port)

    def run(self, args: argparse.Namespace) -> None:
        archive = load_archive(
            args.archive_file, args.cuda_device, args.trust_archive, overrides=args.overrides
        )
        predictor: Any = Predictor.from_archive(
            archive, args.predictor, extra_args=args.predictor_args
        )
        service = self.completed(service_of(predictor), predictor, archive, args)
        words = affordable_words(predictor) if args.max_words is None else args.max_words
        try:
            app = create_app(service, args.batch_size, args.allowed_host, words)
            serve(app, args.host, args.port, self.served)
        except ValueError as error:
            raise ConfigurationError(str(error)) from error

    def completed(
        self, service: Service, predictor: Any, archive: Archive, args: argparse.Namespace
    ) -> Service:
        """The service of a subclass, which adds to this one."""
        return service
