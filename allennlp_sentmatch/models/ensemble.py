"""Several trained classifiers as one."""

import math
from os import PathLike
from typing import Any, Optional, Union

import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import remove_keys_from_params
from allennlp.data import Vocabulary
from allennlp.models import Model
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel


@Model.register("ensemble")
class Ensemble(ClassificationModel):
    """Averages the probabilities that its members give to each label.

    `allennlp ensemble` makes an archive of it from the archives of trained models, such as those
    of five seeds (Brahma 2018, https://arxiv.org/abs/1805.07340, table 4).

    Registered as a `Model` with name "ensemble".

    # Parameters

    vocab : `Vocabulary`
        Also the members'.
    members : `list[Model]`
        Classifiers of this package, all of which take the same fields.
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

    def forward(  # type: ignore[override]
        self,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Classify a batch of B instances.

        # Parameters

        label : `Tensor`, optional (default = `None`)
            (B,)
        metadata : `list[dict[str, Any]]`, optional (default = `None`)
        fields
            Arguments of the members' `forward`.

        # Returns

        `dict[str, Any]`
            See `ClassificationModel.output`; the logits are the logarithms of the averaged
            probabilities. With `member_probs` (B, number of members, num_labels).
        """
        # Shape: (B, number of members, num_labels)
        log_probs = torch.stack(
            [member(**fields)["label_logits"].log_softmax(dim=-1) for member in self.members], dim=1
        )
        # Shape: (B, num_labels)
        log_means = log_probs.logsumexp(dim=1) - math.log(len(self.members))
        output = self.output(log_means, label, metadata)
        output["member_probs"] = log_probs.exp()
        return output

    @classmethod
    def _load(
        cls,
        config: Params,
        serialization_dir: Union[str, "PathLike[str]"],
        weights_file: Optional[Union[str, "PathLike[str]"]] = None,
        cuda_device: int = -1,
    ) -> Model:
        # AllenNLP takes initializers and files of pretrained vectors out of an archive's
        # configuration, because the weights are there, but not out of lists.
        for member in config["model"]["members"]:
            remove_keys_from_params(member)
        return super()._load(config, serialization_dir, weights_file, cuda_device)
