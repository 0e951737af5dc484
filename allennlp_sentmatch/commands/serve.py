"""The `serve` subcommand answers programs with a model's predictions and vectors over HTTP.

POST a line of the input of `allennlp predict` to `/predict`; to `/v1/embeddings`, a request
of OpenAI's clients; to `/similarity` two texts, and to `/rerank` a query and documents. The server
is accessible only from this machine, unless `--host` is given. For example:
`sentmatch serve package --port 8000`.
"""

import argparse
import logging
import signal
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from allennlp_sentmatch.commands.command import CLASSIFIERS_VECTORS, Command
from allennlp_sentmatch.files.json_lines import parse_json_object

if TYPE_CHECKING:
    from allennlp_sentmatch.serving import Service

logger = logging.getLogger(__name__)


class Serve(Command):
    """Serve a model's predictions and vectors over HTTP."""

    name = "serve"
    shared_options = ("--cuda-device", "--overrides", "--trust-archive")
    port: ClassVar[int] = 8000
    """The default of `--port`."""
    served: ClassVar[str] = "model"
    """What the address leads to, for the message at the start."""
    model_help: ClassVar[str] = (
        "`package`, the encoder in this package; the folder of an exported encoder, of a model of "
        "sentence-transformers or of a saved PairClassifier or PairRegressor; or an archive, which "
        "needs AllenNLP"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("model", help=self.model_help)
        parser.add_argument(
            "--predictor", help="the name of an archive's predictor (default: the model's own)"
        )
        parser.add_argument(
            "--predictor-args",
            default="{}",
            help="JSON with settings of an archive's predictor, such as '{\"threshold\": 0.8}'",
        )
        _add_server_options(parser, self.port)

    def run(self, args: argparse.Namespace) -> None:
        """Serve the model until the program is stopped by Ctrl-C or SIGTERM.

        Raise `ValueError` for a model that cannot be served, for settings that it does not have,
        and for an address that cannot be used.
        """
        from allennlp_sentmatch.serving import create_app, serve
        from allennlp_sentmatch.serving.sources import needs_archive

        # Argparse would not say what is wrong with it.
        args.predictor_args = parse_json_object(
            args.predictor_args, "--predictor-args", "an object"
        )
        # AllenNLP's handler raises an `Exception`, which code that loads an archive may catch.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        if needs_archive(args.model):
            service = self._archive_service(args)
        else:
            service = self._other_service(args)
        words = service.most_words() if args.max_words is None else args.max_words
        app = create_app(service, args.batch_size, args.allowed_host, words)
        print(service.summary())
        serve(app, args.host, args.port, self.served)

    def _other_service(self, args: argparse.Namespace) -> "Service":
        """Return the service of a model that does not need AllenNLP.

        Raise `ValueError` for settings of archives.
        """
        from allennlp_sentmatch.corpora.encoders import check_no_archive_settings
        from allennlp_sentmatch.serving import service_at

        check_no_archive_settings(args.model, args.cuda_device, args.overrides, args.trust_archive)
        if args.predictor or args.predictor_args:
            raise ValueError(
                f"{args.model} is not an archive of AllenNLP; leave out --predictor and "
                "--predictor-args, which only an archive takes"
            )
        return service_at(args.model)

    def _archive_service(self, args: argparse.Namespace) -> "Service":
        """Return the service of an archive, and warn if a classifier's vectors are served.

        Raise `ValueError` for anything but an archive.
        """
        from allennlp_sentmatch.corpora.encoder_sources import check_archive

        check_archive(args.model)
        from allennlp.predictors import Predictor

        from allennlp_sentmatch.models import ClassificationModel
        from allennlp_sentmatch.models.archival import load_archive
        from allennlp_sentmatch.serving.predictions import service_of

        archive = load_archive(
            args.model, args.cuda_device, args.trust_archive, overrides=args.overrides
        )
        predictor: Any = Predictor.from_archive(
            archive, args.predictor, extra_args=args.predictor_args
        )
        service = self.completed(service_of(predictor), predictor, archive, args)
        if "/similarity" in service.routes and isinstance(archive.model, ClassificationModel):
            logger.warning(CLASSIFIERS_VECTORS, args.model)
        return service

    def completed(
        self,
        service: "Service",
        predictor: Any,
        archive: Any,
        args: argparse.Namespace,
    ) -> "Service":
        """Return the service, to which subclasses may add routes."""
        return service


def _add_server_options(parser: argparse.ArgumentParser, port: int) -> None:
    """Add options for the server's address, with the default `port`, and its limits."""
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 admits other machines")
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="also answer requests for this host name, such as a proxy's name; may be repeated",
    )
    parser.add_argument("--port", type=int, default=port, help="the port to serve at")
    parser.add_argument("--batch-size", type=int, default=32, help="inputs predicted together")
    parser.add_argument(
        "--max-words",
        type=int,
        help="refuse inputs that cost more than one text of this many words (default: up to "
        "1,000, as many as a trained model reads in 10 seconds; measured at the start)",
    )
