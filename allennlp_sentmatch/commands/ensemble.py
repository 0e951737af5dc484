"""The `ensemble` subcommand makes one archive of several trained classifiers.

The new archive holds all that it needs: `allennlp evaluate` and `allennlp predict` use it without
the archives that it was made of. Their models' probabilities are averaged.
"""

import argparse
import logging
import os
import tempfile
from collections.abc import Sequence
from typing import Any, Optional

import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.meta import META_NAME, Meta
from allennlp.models.archival import CONFIG_NAME, Archive, archive_model

from allennlp_sentmatch.models import Ensemble
from allennlp_sentmatch.models.archival import load_archive

logger = logging.getLogger(__name__)

SHARED_SECTIONS = (
    "vocabulary",
    "dataset_reader",
    "validation_dataset_reader",
    "data_loader",
    "validation_data_loader",
    "evaluation",
)
"""What the ensemble's configuration takes from the first archive's, beside the model."""


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
        subparser.set_defaults(func=_from_args)
        return subparser


def _from_args(args: argparse.Namespace) -> None:
    ensemble_archives(args.archive_files, args.output_file)


def ensemble_archives(archive_files: Sequence[str], output_file: str) -> str:
    """Make one archive of several trained classifiers.

    # Parameters

    archive_files : `Sequence[str]`
        Paths or URLs of archives, or serialization directories. Their models must have been trained
        with the same vocabulary, which trainings on the same data have, and the same (validation)
        dataset reader.
    output_file : `str`
        Where to write the new archive, `ensemble.tar.gz` for instance.

    # Returns

    `str`
        The path of the new archive.

    # Raises

    `ConfigurationError` for no archives, for an archive that does not go with the first one, and
    for a model that is no classifier of this package.
    """
    if not archive_files:
        raise ConfigurationError("an ensemble needs at least one archive, got none")
    archives = [load_archive(archive_file) for archive_file in archive_files]
    first = archives[0]
    for archive_file, archive in zip(archive_files, archives):
        problem = _difference(archive, first)
        if problem:
            raise ConfigurationError(
                f"{archive_file} does not go with {archive_files[0]}: {problem}"
            )
    configs: list[dict[str, Any]] = [archive.config.as_dict(quiet=True) for archive in archives]
    label_settings = {
        name: configs[0]["model"][name]
        for name in ("label_namespace", "positive_label")
        if name in configs[0]["model"]
    }
    vocab = first.model.vocab
    model = Ensemble(vocab, [archive.model for archive in archives], **label_settings)
    config = {name: configs[0][name] for name in SHARED_SECTIONS if name in configs[0]}
    config["model"] = {
        "type": "ensemble",
        "members": [of_member["model"] for of_member in configs],
        **label_settings,
    }
    with tempfile.TemporaryDirectory() as folder:
        Params(config).to_file(os.path.join(folder, CONFIG_NAME))
        Meta.new().to_file(os.path.join(folder, META_NAME))
        vocab.save_to_files(os.path.join(folder, "vocabulary"))
        torch.save(model.state_dict(), os.path.join(folder, "best.th"))
        path = archive_model(folder, archive_path=output_file)
    logger.info("%d models are in %s", len(archives), path)
    return path


def _difference(archive: Archive, first: Archive) -> Optional[str]:
    """Why the models of two archives cannot read the same batches, if they cannot."""
    vocab, first_vocab = archive.model.vocab, first.model.vocab
    for namespace in sorted(first_vocab.get_namespaces() | vocab.get_namespaces()):
        if vocab.get_index_to_token_vocabulary(
            namespace
        ) != first_vocab.get_index_to_token_vocabulary(namespace):
            return (
                f"their vocabularies differ in the namespace {namespace!r}; train the models on "
                "the same data, or give all configurations the same `vocabulary`"
            )
    if _reader(archive) != _reader(first):
        return f"their dataset readers differ: {_reader(archive)} and {_reader(first)}"
    return None


def _reader(archive: Archive) -> dict[str, Any]:
    """The configuration of the reader that `allennlp evaluate` uses."""
    name = "validation_dataset_reader"
    config: Params = archive.config[name if name in archive.config else "dataset_reader"]
    return dict(config.as_dict(quiet=True))
