"""The `export` subcommand writes a sentence encoder for programs without AllenNLP.

The folder contains the encoder's tensors (safetensors), and its vocabulary and settings as JSON.
`allennlp_sentmatch.standalone.StandaloneEncoder`, which does not require AllenNLP, and
sentence-transformers can read it.
"""

import argparse
import logging

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands.command import CLASSIFIERS_VECTORS, Command
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.predictors.export import export_encoder

logger = logging.getLogger(__name__)


@Subcommand.register("export")
class Export(Command):
    """`allennlp export ARCHIVE FOLDER`."""

    summary = "Write a sentence encoder for programs without AllenNLP."
    shared_options = ("--overrides", "--trust-archive")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_file", help="path to an archived model")
        parser.add_argument("folder", help="a folder that is empty or does not exist")

    def run(self, args: argparse.Namespace) -> None:
        archive = load_archive(
            args.archive_file, trust=args.trust_archive, overrides=args.overrides
        )
        if isinstance(archive.model, ClassificationModel):
            logger.warning(CLASSIFIERS_VECTORS, args.archive_file)
        encoder = export_encoder(archive.model, archive.validation_dataset_reader, args.folder)
        count = sum(parameter.numel() for parameter in encoder.parameters())
        print(f"{args.folder}: vectors of {encoder.vector_size} dimensions, {count:,} parameters")
