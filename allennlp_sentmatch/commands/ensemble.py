"""The `ensemble` subcommand combines several trained classifiers into one archive.

`allennlp evaluate` and `allennlp predict` use the new archive without the original ones. The
probabilities of the models are averaged.
"""

import argparse

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands.options import add_trust_option, add_verbose_option
from allennlp_sentmatch.models.ensemble_archives import ensemble_archives


@Subcommand.register("ensemble")
class EnsembleArchives(Subcommand):
    """`allennlp ensemble ARCHIVE ARCHIVE ... --output-file ARCHIVE`."""

    def add_subparser(
        self,
        parser: "argparse._SubParsersAction[argparse.ArgumentParser]",
    ) -> argparse.ArgumentParser:
        """Describe the command line."""
        description = "Make one archive of several trained classifiers."
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=__doc__, help=description
        )
        subparser.add_argument(
            "archive_files", nargs="+", help="paths to the archives of trained classifiers"
        )
        subparser.add_argument(
            "--output-file", required=True, help="where to write the ensemble's archive"
        )
        add_trust_option(subparser)
        add_verbose_option(subparser)
        subparser.set_defaults(func=_from_args)
        return subparser


def _from_args(args: argparse.Namespace) -> None:
    path = ensemble_archives(args.archive_files, args.output_file, args.trust_archive)
    print(f"wrote {path}, an ensemble of {len(args.archive_files)}")
