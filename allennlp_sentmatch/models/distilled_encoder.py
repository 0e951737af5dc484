"""A sentence encoder that learns another encoder's vectors."""

from typing import Any, Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.text_model import Metadata, Output, TextModel
from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.nn.checks import COUNT, check_kind, optional
from allennlp_sentmatch.training.metrics import MeanCosine


@Model.register("distilled_encoder")
class DistilledEncoder(TextModel):
    """A sentence encoder, the student, that learns a teacher's vectors of the same sentences.

    Reimers and Gurevych 2020 (https://arxiv.org/abs/2004.09813), with any encoder as the student,
    optionally with a relational term: see `allennlp_sentmatch.nn.distillation`. The teacher's
    vectors are read from a file (the reader "sentence_vectors"), so any encoder can be the teacher.
    A linear projection maps the student's vectors to the teacher's dimension.

    # Parameters

    encoder : `Seq2VecEncoder`
        To use a `Seq2SeqEncoder`, wrap it in "pooled".
    projection_size : `int`, optional (default = `None`)
        The dimension of the teacher's vectors. By default, there is no projection, and the
        encoder's own vectors must have the teacher's dimension.
    cut_projection : `bool`, optional (default = `False`)
        Whether a sentence's vector is the encoder's, before the projection. The loss and the metric
        always compare the projected vector. This can be changed for a trained model.
    cosine_weight, squared_error_weight, similarity_weight : `float`, optional
            (default = `1.0`, `0.0`, `0.0`)
        The weights of the terms of the loss; see `DistillationLoss`.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    settings : see `TextModel`
    """

    default_predictor = "sentence_vector"
    gold_field = "teacher_vector"

    @inherits_settings(TextModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        projection_size: Optional[int] = None,
        cut_projection: bool = False,
        cosine_weight: float = 1.0,
        squared_error_weight: float = 0.0,
        similarity_weight: float = 0.0,
        embedding_dropout: float = 0.0,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        check_kind(optional(COUNT), projection_size=projection_size)
        if cut_projection and projection_size is None:
            raise ConfigurationError("cut_projection needs a projection_size")
        size = encoder.get_output_dim()
        self._projection: Optional[torch.nn.Linear] = None
        if projection_size is not None:
            self._projection = torch.nn.Linear(size, projection_size)
        self._cut_projection = cut_projection
        self._teacher_size = projection_size or size
        self._loss = DistillationLoss(cosine_weight, squared_error_weight, similarity_weight)
        self._mean_cosine = MeanCosine()
        self._initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        teacher_vector: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
    ) -> Output:
        """Encode a batch of B sentences.

        With the teacher's vectors (B, P), a loss is computed, and the metric is updated.

        Return `vector` (B, P), or (B, E) with `cut_projection`; also any `loss` and `metadata`.
        """
        encoded = self._vectors(tokens)  # (B, E)
        projected = encoded if self._projection is None else self._projection(encoded)  # (B, P)
        output: Output = {"vector": encoded if self._cut_projection else projected}
        if metadata is not None:
            output["metadata"] = metadata
        if teacher_vector is not None:
            if teacher_vector.size(1) != self._teacher_size:
                setting = "the encoder's output" if self._projection is None else "projection_size"
                raise ConfigurationError(
                    f"the teacher's vectors have {teacher_vector.size(1)} dimensions, but "
                    f"{setting} is {self._teacher_size}"
                )
            output["loss"] = self._loss(projected, teacher_vector)
            self._mean_cosine(projected, teacher_vector)
        return output

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """Return the vectors of B sentences, (B, P), or (B, E) with `cut_projection`."""
        vectors: Tensor = self(tokens)["vector"]
        return vectors

    @property
    def projection(self) -> Optional[torch.nn.Linear]:
        """The map to the vectors of `encode`; `None` if these are the encoder's own vectors."""
        return None if self._cut_projection else self._projection

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return `mean_cosine`, between the projected and the teacher's vectors."""
        return {"mean_cosine": self._mean_cosine.get_metric(reset)}
