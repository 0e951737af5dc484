"""The `demo` subcommand serves a page that applies a trained model to sentences entered by the
user.

The page shows the label with its probabilities, the ranking or the translation, the model's
internals (trees, attention or gates) and the words' saliency. Depending on the model, it also
generates sentences and searches a small corpus. It is accessible only from this machine, unless
`--host` is given.
"""

import argparse
from typing import Optional

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.commands.command import Command, add_address_options
from allennlp_sentmatch.demo import CORPUS, DemoModel, InMemorySearch, create_app
from allennlp_sentmatch.encoding import read_sentences
from allennlp_sentmatch.serving import serve
from allennlp_sentmatch.standalone.texts import is_blank


@Subcommand.register("demo")
class Demo(Command):
    """Try a model on a page in the browser."""

    shared_options = ("--cuda-device", "--trust-archive")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="path to an archived model")
        parser.add_argument(
            "--corpus", help="sentences to search on the page, one per line (default: a few dozen)"
        )
        add_address_options(parser, port=7860)

    def run(self, args: argparse.Namespace) -> None:
        model = DemoModel.from_archive(args.archive_file, args.cuda_device, args.trust_archive)
        app = create_app(model, _search(model, args.corpus), args.allowed_host)
        serve(app, args.host, args.port, "page")


def _search(model: DemoModel, corpus: Optional[str]) -> Optional[InMemorySearch]:
    """A search in the file, or in sentences of our own where the model can encode any."""
    if corpus is None:
        try:
            return InMemorySearch(model, CORPUS)
        except ConfigurationError:
            return None
    sentences = [sentence for sentence in read_sentences(corpus) if not is_blank(sentence)]
    if not sentences:
        raise ConfigurationError(f"{corpus} has no sentence in it")
    return InMemorySearch(model, sentences)
