"""The `demo` subcommand serves a web page on which users try a trained model.

The page shows the label with its probabilities, the ranking or the translation, the model's
internals (trees, attention or gates) and the words' saliency. Depending on the model, it also
generates sentences and searches a small corpus. The examples are from the archive's validation data
if their file is on this machine and only this machine can open the page. The server also answers
programs, like `allennlp serve`. It is accessible only from this machine, unless `--host` is given.
For example: `allennlp demo model.tar.gz`.
"""

import argparse
from typing import TYPE_CHECKING, Any

from allennlp_sentmatch.commands.serve import Serve
from allennlp_sentmatch.files.tables import listed_sentences
from allennlp_sentmatch.files.texts import is_blank

if TYPE_CHECKING:
    from allennlp_sentmatch.serving import Service


class Demo(Serve):
    """Try a model on a page in the browser."""

    name = "demo"
    port = 7860
    served = "page"
    model_help = "path to an archived model"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--corpus", help="sentences to search on the page, one per line (default: a few dozen)"
        )

    def run(self, args: argparse.Namespace) -> None:
        """Serve the page until the program is stopped; see `Serve`.

        Raise `ValueError` unless the model is an archive.
        """
        from allennlp_sentmatch.serving.sources import needs_archive

        if not needs_archive(args.model):
            raise ValueError(f"{args.model} is not an archive; use `allennlp serve`")
        super().run(args)

    def completed(
        self,
        service: "Service",
        predictor: Any,
        archive: Any,
        args: argparse.Namespace,
    ) -> "Service":
        """Return the service with a page, which searches the sentences of `--corpus`.

        Raise `ValueError` if there is no sentence in that file.
        """
        from allennlp_sentmatch.serving.host_names import LOCAL_NAMES
        from allennlp_sentmatch.serving.page import parts_of, validation_examples, with_page

        corpus = None
        if args.corpus is not None:
            corpus = [one for one in listed_sentences(args.corpus) if not is_blank(one)]
            if not corpus:
                raise ValueError(f"{args.corpus} has no sentences; write one on each line")
        # An archive may name any file of this machine, so only its own user sees the rows.
        is_private = args.host in LOCAL_NAMES and not args.allowed_host
        examples = validation_examples(archive, predictor) if is_private else []
        return with_page(service, predictor, parts_of(archive), examples, corpus)
