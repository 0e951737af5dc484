"""The base class of models that encode the two sentences of a pair together."""

from typing import Any, Optional

from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.modules.seq2vec_encoders import ClsPooler
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.internals import add_internals, describe_internals
from allennlp_sentmatch.modules.interpretable_encoder import encode_with_internals


class CrossEncoderModel(Model):
    """One vector for a pair, which a pretrained transformer reads as one text.

    A subclass calls `_set_encoder` in its constructor and inherits from the base class of its
    output, too. Not registered itself.
    """

    default_predictor = "sentence_pair"

    def _set_encoder(
        self, text_field_embedder: TextFieldEmbedder, encoder: Optional[Seq2VecEncoder]
    ) -> int:
        """Keep the parts; `None` is a `ClsPooler`. Return the size of the pair's vector."""
        size = text_field_embedder.get_output_dim()
        encoder = encoder or ClsPooler(size)
        check_dimensions_match(
            size, encoder.get_input_dim(), "text_field_embedder output dim", "encoder input dim"
        )
        self._text_field_embedder = text_field_embedder
        self._encoder = encoder
        return encoder.get_output_dim()

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Add what the encoder shows: its attention."""
        describe_internals(output_dict, "", self._encoder)
        return super().make_output_human_readable(output_dict)

    def _encode_pair(self, tokens: TextFieldTensors) -> tuple[Tensor, dict[str, Any]]:
        """The vectors (B, E) of B pairs, and what the encoder shows, for the output."""
        mask = get_text_field_mask(tokens)
        # Shape: (B, E)
        vectors, internals = encode_with_internals(
            self._encoder, self._text_field_embedder(tokens), mask
        )
        shown: dict[str, Any] = {}
        add_internals(shown, "", internals, mask)
        return vectors, shown
