"""Several trained classifiers combined into one."""

import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.meta import META_NAME, Meta
from allennlp.common.params import remove_keys_from_params
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.models.archival import CONFIG_NAME, Archive, archive_model
from torch import Tensor

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.folders import AnyPath, check_absent
from allennlp_sentmatch.models.archival import (
    check_different,
    copy_included,
    load_archive,
    weights_digest,
)
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output

SHARED_SECTIONS = (
    "train_data_path",
    "vocabulary",
    "dataset_reader",
    "validation_dataset_reader",
    "data_loader",
    "validation_data_loader",
    "evaluation",
    "include_in_archive",
)
"""Keys that the ensemble's configuration takes from the first archive, apart from the model."""


@Model.register("ensemble")
class Ensemble(ClassificationModel):
    """Averages the probabilities that its members give to each label.

    `allennlp ensemble` makes an archive of it from the archives of trained models, such as those
    of five seeds (Brahma 2018, https://arxiv.org/abs/1805.07340, table 4).

    # Parameters

    vocab : `Vocabulary`
        The vocabulary, which the members share.
    members : `list[Model]`
        Classifiers of this package that take the same fields.
    label_namespace : `str`, optional (default = `"labels"`)
    positive_label : `str`, optional (default = `None`)
        See `ClassificationModel`.
    """

    default_predictor = "ensemble"

    def __init__(
        self,
        vocab: Vocabulary,
        members: list[Model],
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
    ) -> None:
        if not members:
            raise ConfigurationError("members must be at least one model, got none")
        for position, member in enumerate(members):
            if not isinstance(member, ClassificationModel):
                raise ConfigurationError(
                    f"members must be classifiers of this package, which give the probabilities of "
                    f"labels; member {position} is a {type(member).__name__}"
                )
        super().__init__(vocab, label_namespace, positive_label)
        self.members = torch.nn.ModuleList(members)

    def forward(
        self,
        premise: Optional[TextFieldTensors] = None,
        hypothesis: Optional[TextFieldTensors] = None,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        score: Optional[Tensor] = None,
        tokens: Optional[TextFieldTensors] = None,
        word_features: Optional[Tensor] = None,
    ) -> Output:
        """Classify B pairs or, if the members read `tokens`, B sentences.

        Return the results of `output`, whose logits are the logarithms of the averaged
        probabilities, and `member_probs` (B, number of members, num_labels).
        """
        fields = {
            "premise": premise,
            "hypothesis": hypothesis,
            "tokens": tokens,
            "word_features": word_features,
        }
        given = {name: field for name, field in fields.items() if field is not None}
        logits = [member(**given)["label_logits"] for member in self.members]  # (B, C) each
        log_probs = torch.stack(logits, dim=1).log_softmax(dim=-1)  # (B, members, C)
        log_means = log_probs.logsumexp(dim=1) - math.log(len(self.members))  # (B, C)
        return self.output(log_means, label, metadata, {"member_probs": log_probs.exp()})

    @classmethod
    def _load(
        cls,
        config: Params,
        serialization_dir: AnyPath,
        weights_file: Optional[AnyPath] = None,
        cuda_device: int = -1,
    ) -> Model:
        # AllenNLP removes initializers and files of pretrained vectors from an archive's
        # configuration, since the weights are there, but not from lists.
        for member in config["model"]["members"]:
            remove_keys_from_params(member)
        return super()._load(config, serialization_dir, weights_file, cuda_device)


def ensemble_archives(archive_files: Sequence[str], output_file: str, trust: bool = False) -> str:
    """Combine the archives of several trained classifiers into one, and return its path.

    The models must have the same vocabulary, as after training on the same data, and the same
    (validation) dataset reader.

    `archive_files` are paths, URLs or serialization directories. For `trust`, see `load_archive`.

    Raise `ConfigurationError` without archives, for a vocabulary or reader that differs from the
    first archive's, a model that is not a classifier of this package or is given twice, or if the
    output file exists.
    """
    if not archive_files:
        raise ConfigurationError("an ensemble needs at least one archive, got none")
    with configuration_errors():
        check_absent(output_file)
    archives = [load_archive(archive_file, trust=trust) for archive_file in archive_files]
    first = archives[0]
    for archive_file, archive in zip(archive_files, archives):
        problem = _difference(archive, first)
        if problem:
            raise ConfigurationError(
                f"{archive_file} cannot be combined with {archive_files[0]}: {problem}"
            )
    check_different(archive_files, [weights_digest(archive.model) for archive in archives])
    configs: list[dict[str, Any]] = [archive.config.as_dict(quiet=True) for archive in archives]
    first_config = configs[0]
    label_settings = _picked(first_config["model"], ("label_namespace", "positive_label"))
    vocab = first.model.vocab
    model = Ensemble(vocab, [archive.model for archive in archives], **label_settings)
    config = _picked(first_config, SHARED_SECTIONS)
    config["model"] = {
        "type": "ensemble",
        "members": [member_config["model"] for member_config in configs],
        **label_settings,
    }
    with tempfile.TemporaryDirectory() as folder:
        Params(config).to_file(os.path.join(folder, CONFIG_NAME))
        Meta.new().to_file(os.path.join(folder, META_NAME))
        vocab.save_to_files(os.path.join(folder, "vocabulary"))
        torch.save(model.state_dict(), os.path.join(folder, "best.th"))
        included = copy_included(archive_files[0], Path(folder))
        return archive_model(folder, archive_path=output_file, include_in_archive=included)


def _picked(settings: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: settings[name] for name in names if name in settings}


def _difference(archive: Archive, first: Archive) -> Optional[str]:
    """Return the reason why two archives' models cannot read the same batches, if there is one."""
    vocab = archive.model.vocab
    first_vocab = first.model.vocab
    for namespace in sorted(first_vocab.get_namespaces() | vocab.get_namespaces()):
        words = vocab.get_index_to_token_vocabulary(namespace)
        if words != first_vocab.get_index_to_token_vocabulary(namespace):
            return (
                f"their vocabularies differ in the namespace {namespace!r}; train the models on "
                "the same data, or give all configurations the same `vocabulary`"
            )
    if _reader(archive) != _reader(first):
        return f"their dataset readers differ: {_reader(archive)} and {_reader(first)}"
    return None


def _reader(archive: Archive) -> dict[str, Any]:
    """Return the configuration of the reader that `allennlp evaluate` uses."""
    name = "validation_dataset_reader"
    config: Params = archive.config[name if name in archive.config else "dataset_reader"]
    return dict(config.as_dict(quiet=True))
