"""The `serve` subcommand answers programs with a model's predictions and vectors over HTTP.

POST to `/predict` what is a line of the input of `allennlp predict`; to `/v1/embeddings`, a request
of OpenAI's clients; to `/similarity` two texts, and to `/rerank` a query and documents. The server
is accessible only from this machine, unless `--host` is given.
"""

import argparse
import logging
import signal
import sys
from typing import Any, ClassVar

from allennlp.commands.subcommand import Subcommand
from allennlp.models import Archive
from allennlp.predictors import Predictor

from allennlp_sentmatch.commands.command import CLASSIFIERS_VECTORS, Command
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.models import ClassificationModel
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.serving import Service, create_app, serve, service_at
from allennlp_sentmatch.serving.predictions import service_of
from allennlp_sentmatch.serving.server import add_server_options
from allennlp_sentmatch.serving.sources import needs_archive

logger = logging.getLogger(__name__)


@Subcommand.register("serve")
class Serve(Command):
    """Serve a model's predictions over HTTP."""

    shared_options = ("--cuda-device", "--overrides", "--trust-archive")
    port: ClassVar[int] = 8000
    served: ClassVar[str] = "model"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "archive_file",
            help="path to an archived model, to the folder of an exported encoder or of a saved "
            "PairClassifier or PairRegressor; or `package`, the encoder in this package",
        )
        parser.add_argument("--predictor", help="the predictor's name (default: the model's own)")
        parser.add_argument(
            "--predictor-args",
            default="{}",
            help="JSON with further settings of the predictor, such as '{\"threshold\": 0.8}'",
        )
        add_server_options(parser, self.port)

    def run(self, args: argparse.Namespace) -> None:
        # Argparse would not say what is wrong with it.
        args.predictor_args = parse_json_object(
            args.predictor_args, "--predictor-args", "an object"
        )
        # AllenNLP's handler raises an `Exception`, which what loads an archive may catch.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        if needs_archive(args.archive_file):
            service = self._archive_service(args)
        else:
            if args.predictor or args.predictor_args or args.overrides or args.cuda_device >= 0:
                options = "--predictor, --overrides and --cuda-device"
                raise ValueError(f"{options} are settings of archives")
            service = service_at(args.archive_file)
        words = service.most_words() if args.max_words is None else args.max_words
        app = create_app(service, args.batch_size, args.allowed_host, words)
        print(service.summary())
        serve(app, args.host, args.port, self.served)

    def _archive_service(self, args: argparse.Namespace) -> Service:
        archive = load_archive(
            args.archive_file, args.cuda_device, args.trust_archive, overrides=args.overrides
        )
        predictor: Any = Predictor.from_archive(
            archive, args.predictor, extra_args=args.predictor_args
        )
        service = self.completed(service_of(predictor), predictor, archive, args)
        if "/similarity" in service.routes and isinstance(archive.model, ClassificationModel):
            logger.warning(CLASSIFIERS_VECTORS, args.archive_file)
        return service

    def completed(
        self, service: Service, predictor: Any, archive: Archive, args: argparse.Namespace
    ) -> Service:
        """The service of a subclass, which adds to this one."""
        return service
