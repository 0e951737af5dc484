"""The `ensemble` subcommand combines several trained classifiers into one archive.

`allennlp evaluate` and `allennlp predict` use the new archive without the original ones. The
probabilities of the models are averaged. For example:
`allennlp ensemble out/seed_*/model.tar.gz --output-file ensemble.tar.gz`.
"""

import argparse

from allennlp_sentmatch.commands.command import Command


class EnsembleArchives(Command):
    """Make one archive of several trained classifiers."""

    name = "ensemble"
    shared_options = ("--trust-archive",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("archive_files", nargs="+", help="archives of trained classifiers")
        parser.add_argument(
            "--output-file", required=True, help="a new file, the ensemble's archive"
        )

    def run(self, args: argparse.Namespace) -> None:
        """Write the ensemble's archive, and print its path.

        Raise `ConfigurationError` for models that cannot be combined; see `ensemble_archives`.
        """
        from allennlp_sentmatch.models.ensemble import ensemble_archives

        path = ensemble_archives(args.archive_files, args.output_file, args.trust_archive)
        print(f"wrote {path}, an ensemble of {len(args.archive_files)}")
