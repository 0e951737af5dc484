"""The `encode` subcommand writes the vectors of a file's sentences to a `.npy` file.

After an interruption, the same command continues. For example:
`sentmatch encode package corpus.txt vectors.npy`.
"""

import argparse
import logging
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from allennlp_sentmatch.commands.command import (
    CLASSIFIERS_VECTORS,
    MODEL,
    Command,
    add_table_options,
)

logger = logging.getLogger(__name__)


class Encode(Command):
    """Encode a file's sentences as vectors."""

    name = "encode"
    shared_options = (
        "--cuda-device",
        "--overrides",
        "--dtype",
        "--trust-archive",
        "--file-friendly-logging",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("model", help=MODEL)
        parser.add_argument("input_file", help="one sentence per line, or a table with --column")
        parser.add_argument("output_file", help="a new .npy file, unless with --append")
        parser.add_argument(
            "--append",
            action="store_true",
            help="keep the vectors in the output file, if it exists, and encode only the lines "
            "that are new at the end of the input file",
        )
        add_table_options(parser)
        parser.add_argument("--batch-size", type=int, default=128, help="sentences at a time")
        parser.add_argument(
            "--block-size",
            type=int,
            default=8192,
            help="how many sentences are sorted by length and saved together",
        )
        parser.add_argument(
            "--engine",
            choices=["local", "ray"],
            default="local",
            help="encode in this process (local), or in workers of Ray",
        )
        parser.add_argument(
            "--ray-address",
            help="address of the Ray cluster (default: the environment variable RAY_ADDRESS; "
            "without it, Ray is started on this machine)",
        )
        parser.add_argument("--ray-workers", type=int, default=1, help="how many workers encode")

    def run(self, args: argparse.Namespace) -> None:
        """Encode the sentences that the output file does not have yet.

        Raise `ValueError`, with the line, for a sentence that cannot be encoded, and for what
        `encode_corpus` and `load_encoder` refuse.
        """
        from allennlp_sentmatch.corpora.corpus import encode_corpus
        from allennlp_sentmatch.corpora.encoders import fingerprint_of
        from allennlp_sentmatch.files.texts import noting

        # Few shapes recur, and these caches would keep code for a thousand of them, hundreds of MB.
        for onednn_cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
            os.environ.setdefault(onednn_cache, "32")
        encoder = _encoder(args)
        if encoder.is_classifier:
            logger.warning(CLASSIFIERS_VECTORS, args.model)
        sentences = partial(_sentences, encoder, args.input_file, args.column, args.delimiter)
        with noting(sentences(), "row {}".format, logger.warning):
            encode_corpus(
                encoder,
                sentences,
                args.output_file,
                batch_size=args.batch_size,
                block_size=args.block_size,
                show_progress_bar=True,
                fingerprint=fingerprint_of(args.model, args.overrides, args.dtype),
                append=args.append,
            )


def _encoder(args: argparse.Namespace) -> Any:
    """Return the encoder of this process, or of the workers of Ray.

    Raise `ValueError` for settings of the workers without Ray.
    """
    settings = {
        "cuda_device": args.cuda_device,
        "trust": args.trust_archive,
        "overrides": args.overrides,
        "dtype": args.dtype,
    }
    if args.engine == "ray":
        from allennlp_sentmatch.corpora.ray_encoder import RayEncoder

        return RayEncoder(
            args.model, address=args.ray_address, num_workers=args.ray_workers, **settings
        )
    if args.ray_address or args.ray_workers != 1:
        raise ValueError("--ray-address and --ray-workers need --engine ray")
    from allennlp_sentmatch.corpora.encoders import load_encoder

    return load_encoder(args.model, **settings)


def _sentences(encoder: Any, *table: Any) -> Iterator[str]:
    """Yield the sentences of a file, given the arguments of `located_sentences`.

    Raise `ValueError`, with the line, for one that cannot be encoded.
    """
    from allennlp_sentmatch.files.tables import located_sentences

    for source, sentence in located_sentences(*table):
        yield encoder.check(sentence, f"{source}: the sentence")
