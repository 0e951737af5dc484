"""The base class of models that encode the two sentences of a pair separately."""

from typing import Any

from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.internals import add_internals, describe_internals
from allennlp_sentmatch.modules.dropout import dropout_layer
from allennlp_sentmatch.modules.interpretable_encoder import encode_with_internals
from allennlp_sentmatch.nn.padding import stack_padded

PREFIXES = ("premise_", "hypothesis_")


class SiameseModel(Model):
    """One encoder for both sentences, whose vectors can be stored and compared later.

    A subclass calls `_set_encoder` in its constructor and inherits from the base class of its
    output, too: `class SiameseClassifier(SiameseModel, ClassificationModel)`. Not registered
    itself.
    """

    def _set_encoder(
        self,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        embedding_dropout: float,
    ) -> None:
        check_dimensions_match(
            text_field_embedder.get_output_dim(),
            encoder.get_input_dim(),
            "text_field_embedder output dim",
            "encoder input dim",
        )
        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        self._encoder = encoder

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """The vectors (B, E) of B sentences, to be compared as often as needed."""
        vectors: Tensor = self._encoder(*self._embed(tokens))
        return vectors

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> dict[str, Any]:
        """The output of `forward` for B pairs of encoded sentences, each (B, E), without what the
        encoder shows.
        """
        raise NotImplementedError

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Add what the encoder shows: its trees, its attention."""
        for prefix in PREFIXES:
            describe_internals(output_dict, prefix, self._encoder)
        return super().make_output_human_readable(output_dict)

    def _encode_pairs(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors
    ) -> tuple[Tensor, Tensor, dict[str, Any]]:
        """The vectors of B pairs, (B, E) twice, and what the encoder shows, for the output."""
        # Shape: (2B, T, D) and (2B, T)
        embedded, mask = stack_padded(self._embed(premise), self._embed(hypothesis))
        # Shape: (2B, E)
        vectors, internals = encode_with_internals(self._encoder, embedded, mask)
        shown: dict[str, Any] = {}
        for half, prefix in enumerate(PREFIXES):
            own = {name: tensor.chunk(2)[half] for name, tensor in internals.items()}
            add_internals(shown, prefix, own, mask.chunk(2)[half])
        premise_vectors, hypothesis_vectors = vectors.chunk(2)
        return premise_vectors, hypothesis_vectors, shown

    def _embed(self, tokens: TextFieldTensors) -> tuple[Tensor, Tensor]:
        # Shape: (B, T, D) and (B, T)
        embedded = self._embedding_dropout(self._text_field_embedder(tokens))
        return embedded, get_text_field_mask(tokens)
