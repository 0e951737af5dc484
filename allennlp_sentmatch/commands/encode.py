"""The `encode` subcommand writes the vectors of a file's sentences to a `.npy` file.

After an interruption, the same command continues.
"""

import argparse
import logging
import os
from collections.abc import Iterator
from functools import partial
from typing import Any, Union

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.commands.command import CLASSIFIERS_VECTORS, Command, add_table_options
from allennlp_sentmatch.corpora import RayEncoder, encode_corpus
from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.files.tables import located_sentences
from allennlp_sentmatch.files.texts import is_blank, noting
from allennlp_sentmatch.models.archival import archive_digest

logger = logging.getLogger(__name__)


@Subcommand.register("encode")
class Encode(Command):
    """Encode a file's sentences as vectors."""

    shared_options = ("--cuda-device", "--overrides", "--trust-archive", "--file-friendly-logging")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="path to an archived model")
        parser.add_argument("input_file", help="one sentence per line, or a table with --column")
        parser.add_argument("output_file", help="a new .npy file, unless with --append")
        parser.add_argument(
            "--append",
            action="store_true",
            help="keep the vectors of the first lines, which the output file may have, and encode "
            "the lines after them",
        )
        add_table_options(parser)
        parser.add_argument("--batch-size", type=int, default=128, help="sentences at a time")
        parser.add_argument(
            "--block-size",
            type=int,
            default=8192,
            help="sentences sorted by length together, and saved together",
        )
        parser.add_argument(
            "--bfloat16",
            action="store_true",
            help="round the factors of products to bfloat16, which some processors multiply faster",
        )
        parser.add_argument(
            "--engine",
            choices=["local", "ray"],
            default="local",
            help="what encodes: this process, or workers of Ray",
        )
        parser.add_argument(
            "--ray-address",
            help="address of the Ray cluster (default: the environment variable RAY_ADDRESS; "
            "without it, Ray is started on this machine)",
        )
        parser.add_argument("--ray-workers", type=int, default=1, help="how many workers encode")

    def run(self, args: argparse.Namespace) -> None:
        # Either cache would keep code for a thousand shapes, hundreds of MB; few shapes recur.
        for onednn_cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
            os.environ.setdefault(onednn_cache, "32")
        encoder: Union[RayEncoder, ArchiveEncoder]
        settings = {
            "cuda_device": args.cuda_device,
            "trust": args.trust_archive,
            "overrides": args.overrides,
            "bfloat16": args.bfloat16,
        }
        if args.engine == "ray":
            workers = {"address": args.ray_address, "num_workers": args.ray_workers}
            encoder = RayEncoder(args.archive_file, **workers, **settings)
        else:
            encoder = ArchiveEncoder.from_archive(args.archive_file, **settings)
        if encoder.is_classifier:
            logger.warning(CLASSIFIERS_VECTORS, args.archive_file)
        sentences = partial(_sentences, args.input_file, args.column, args.delimiter)
        fingerprint = archive_digest(args.archive_file) + args.overrides
        fingerprint += " in bfloat16" if args.bfloat16 else ""
        with noting(sentences(), "row {}".format, logger.warning):
            encode_corpus(
                encoder,
                sentences,
                args.output_file,
                batch_size=args.batch_size,
                block_size=args.block_size,
                show_progress_bar=True,
                fingerprint=fingerprint,
                append=args.append,
            )


def _sentences(*table: Any) -> Iterator[str]:
    for source, sentence in located_sentences(*table):
        if is_blank(sentence):
            raise ConfigurationError(f"{source}: the sentence is blank; leave it out")
        yield sentence
