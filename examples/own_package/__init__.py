"""Components of your own beside those of allennlp_sentmatch: a matcher, and a model of pairs.

The model takes any encoder and any matcher, and is trained, evaluated, served and calibrated by the
same commands as the models of the package. In this folder's parent:

    allennlp train own_package/train.jsonnet -s out/own_package --include-package own_package
    allennlp predict out/own_package/model.tar.gz ../fixtures/own_data/pairs.tsv \
        --use-dataset-reader --include-package own_package
"""

from typing import Any, Optional

import torch
from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models import ClassificationModel
from allennlp_sentmatch.modules import Matcher


@Matcher.register("cosines_of_parts")
class CosinesOfParts(Matcher):
    """The cosines of `num_parts` parts of both vectors."""

    def __init__(self, input_size: int, num_parts: int = 8) -> None:
        super().__init__(input_size)
        self._num_parts = num_parts

    def get_output_dim(self) -> int:
        """Return the number of parts."""
        return self._num_parts

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, (B, input size) each, to (B, num_parts)."""
        parts = [x.unflatten(-1, (self._num_parts, -1)) for x in (a, b)]  # (B, parts, size)
        return torch.cosine_similarity(*parts, dim=-1)


@Model.register("length_aware_classifier")
class LengthAwareClassifier(ClassificationModel):
    """Classifies a pair by its match and by the numbers of tokens of both sentences."""

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        matcher: Lazy[Matcher],
        **settings: Any,  # of every classifier, such as class_weights
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder)
        self._matcher = matcher.construct(input_size=encoder.get_output_dim())
        num_features = self._matcher.get_output_dim() + 2
        self._classifier = torch.nn.Linear(num_features, len(self.labels))
        self._initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
    ) -> dict[str, Any]:
        """Classify B pairs, and return the results of `output`."""
        match = self._matcher(self._vectors(premise), self._vectors(hypothesis))
        masks = [get_text_field_mask(text) for text in (premise, hypothesis)]
        lengths = torch.stack([mask.sum(dim=1) for mask in masks], dim=1)  # (B, 2)
        features = torch.cat([match, lengths.to(match.dtype).log1p()], dim=1)
        return self.output(self._classifier(features), label, metadata)
