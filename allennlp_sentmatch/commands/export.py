"""The `export` subcommand writes a sentence encoder for programs without AllenNLP.

The folder contains the encoder's tensors (safetensors), and its vocabulary and settings as JSON.
`allennlp_sentmatch.standalone.StandaloneEncoder`, which requires only torch, and
sentence-transformers can read it.
"""

import argparse

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands.options import (
    add_overrides_option,
    add_trust_option,
    add_verbose_option,
)
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.predictors.export import export_encoder


@Subcommand.register("export")
class Export(Subcommand):
    """`allennlp export ARCHIVE FOLDER`."""

    def add_subparser(
        self,
        parser: "argparse._SubParsersAction[argparse.ArgumentParser]",
    ) -> argparse.ArgumentParser:
        """Describe the command line."""
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name,
            description=__doc__,
            help="Write a sentence encoder for programs without AllenNLP.",
        )
        subparser.add_argument("archive_file", help="path to an archived model")
        subparser.add_argument("folder", help="a folder that is empty or does not exist")
        add_overrides_option(subparser)
        add_trust_option(subparser)
        add_verbose_option(subparser)
        subparser.set_defaults(func=_from_args)
        return subparser


def _from_args(args: argparse.Namespace) -> None:
    archive = load_archive(args.archive_file, trust=args.trust_archive, overrides=args.overrides)
    encoder = export_encoder(archive.model, archive.validation_dataset_reader, args.folder)
    count = sum(parameter.numel() for parameter in encoder.parameters())
    print(f"{args.folder}: vectors of {encoder.vector_size} dimensions, {count:,} parameters")
