"""The base class of models of texts, and the trees and the attention that they show."""

import inspect
from collections.abc import Mapping
from functools import reduce
from typing import Any, ClassVar, Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.modules.interpretable_encoder import (
    InterpretableEncoder,
    encode_with_internals,
    trim_attention,
)
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.modules.parts import check_fit, dropout_layer
from allennlp_sentmatch.nn import masked_softmax, stack_padded

Output = dict[str, Any]
"""The output of `forward` for a batch, as tensors or as people read it."""

Metadata = list[dict[str, Any]]
"""The metadata of each example of a batch, such as its text and tokens."""

PREFIXES = ("", "premise_", "hypothesis_")
"""Prefixes of names in the output, for a single text and for each of two texts."""

_LENGTHS = "_lengths"


class TextModel(Model):
    """A model that embeds texts and encodes them.

    The output has the internals of an `InterpretableEncoder`, such as trees, for pairs under names
    such as `premise_tree`. A subclass calls `_set_encoder` or `_set_embedder`, and at the end of
    its constructor `self._initializer(self)`. Not registered itself.

    Raise `ConfigurationError` for a field that `forward` does not have and, outside of training,
    for an output that is not a number (NaN).

    # Parameters

    vocab : `Vocabulary`
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
        Applied to the complete model.
    regularizer : `ModelRegularizer`, optional (default = `None`)

    # Attributes

    output_sizes : `dict[str, int]`
        The number of the model's outputs for words or labels, by namespace.
    """

    gold_field: ClassVar[str]
    """The gold field: data without it cannot be evaluated."""

    def __init__(
        self,
        vocab: Vocabulary,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, regularizer)
        self._initializer = initializer
        self.output_sizes: dict[str, int] = {}
        self.register_forward_hook(refuse_nan)

    def __call__(self, *texts: Any, **fields: Any) -> Any:
        """Call `forward`; raise `ConfigurationError` if it does not have one of the fields."""
        parameters = inspect.signature(self.forward).parameters
        unread = sorted(fields.keys() - parameters.keys())
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        if unread and not takes_any:
            raise ConfigurationError(
                f"{type(self).__name__} does not read the field {', '.join(unread)}, which the "
                f"dataset reader makes; it reads {', '.join(parameters)}: leave out the reader's "
                "setting for this field, or take a model that reads it"
            )
        return super().__call__(*texts, **fields)

    def extend_embedder_vocab(
        self, embedding_sources_mapping: Optional[dict[str, str]] = None
    ) -> None:
        """Add embeddings of the words that are new in the vocabulary.

        Raise `ConfigurationError` for words and labels that the model would need outputs for.
        """
        super().extend_embedder_vocab(embedding_sources_mapping)
        for namespace, size in self.output_sizes.items():
            new = list(self.vocab.get_token_to_index_vocabulary(namespace))[size:]
            if new:
                raise ConfigurationError(
                    f"the model has no output for {', '.join(map(repr, new[:10]))} ({len(new)} new "
                    f"in the namespace {namespace!r}): evaluate without --extend-vocab; train a "
                    "model from_archive with the archive's vocabulary, such as "
                    '{"type": "from_files", "directory": ".../vocabulary"}'
                )

    def _set_embedder(
        self, text_field_embedder: TextFieldEmbedder, embedding_dropout: float = 0.0
    ) -> None:
        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)

    def _set_encoder(
        self,
        text_field_embedder: TextFieldEmbedder,
        encoder: torch.nn.Module,
        embedding_dropout: float = 0.0,
    ) -> None:
        """Set the embedder and the encoder.

        Raise `ConfigurationError` unless the encoder reads vectors of the embedder's size.
        """
        check_fit(text_field_embedder=text_field_embedder, encoder=encoder)
        self._set_embedder(text_field_embedder, embedding_dropout)
        self._encoder: Any = encoder

    def _embed(self, *texts: TextFieldTensors) -> tuple[Tensor, Tensor]:
        """Return the embedded tokens (NB, T, D) and the mask (NB, T) of N texts of B examples."""
        parts: list[tuple[Tensor, Tensor]] = []
        for text in texts:
            embedded = self._embedding_dropout(embed(self._text_field_embedder, text))
            parts.append((embedded, get_text_field_mask(text)))
        return reduce(stack_padded, parts)

    def _vectors(self, tokens: TextFieldTensors) -> Tensor:
        """Return the vectors (B, E) of B texts from a `Seq2VecEncoder`."""
        vectors: Tensor = self._encoder(*self._embed(tokens))
        return vectors

    def _encode(self, texts: Mapping[str, TextFieldTensors]) -> tuple[tuple[Tensor, ...], Output]:
        """Return the vectors (B, E) of each text of B examples, and what the encoder shows.

        One call of the `Seq2VecEncoder` reads all of them. The keys are the prefixes of what is
        shown, such as `"premise_"`, with which the internal `merges` becomes `premise_merges`;
        `premise_num_tokens` (B,) is added.
        """
        embedded, mask = self._embed(*texts.values())  # (NB, T, D) and (NB, T) for N texts
        vectors, internals = encode_with_internals(self._encoder, embedded, mask)  # (NB, E)
        shown: Output = {}
        if internals:
            num_tokens = mask.sum(dim=1)  # (NB,)
            for name, tensor in {"num_tokens": num_tokens, **internals}.items():
                for prefix, part in zip(texts, tensor.chunk(len(texts))):
                    shown[prefix + name] = part
        return vectors.chunk(len(texts)), shown

    def make_output_human_readable(self, output_dict: Output) -> Output:
        """Remove the padding of attention, and describe what the encoder shows, such as trees."""
        for key in [key for key in output_dict if key.endswith(f"attention{_LENGTHS}")]:
            name = key.removesuffix(_LENGTHS)
            lengths = output_dict.pop(key).tolist()
            output_dict[name] = [
                trim_attention(weights, *length)
                for weights, length in zip(output_dict[name], lengths)
            ]
        encoder: Any = getattr(self, "_encoder", None)
        if isinstance(encoder, InterpretableEncoder):
            for prefix in PREFIXES:
                if f"{prefix}num_tokens" in output_dict:
                    _describe_internals(output_dict, prefix, encoder)
        return output_dict


def embed(embedder: TextFieldEmbedder, text: TextFieldTensors) -> Tensor:
    """Return the embedded tokens (B, T, D) of B texts.

    Raise `ConfigurationError` on a CPU for a number without a row in one of the embedder's tables.
    """
    try:
        embedded: Tensor = embedder(text)
    except IndexError as error:
        raise ConfigurationError(
            "a table of the embedder has no row for the number of a token; a reason is that the "
            "embedder's `vocab_namespace` is not the `namespace` of the indexer of this name"
        ) from error
    return embedded


def refuse_nan(model: torch.nn.Module, inputs: Any, output: Output) -> None:
    """Raise `ConfigurationError` outside of training if a prediction is not a number.

    Otherwise, it would become the first label, or be written as NaN. Attention is not checked.
    """
    if model.training:
        return
    values = {
        name: value
        for name, value in output.items()
        if isinstance(value, Tensor) and value.dim() <= 2
    }
    if not sum(value.isnan().sum() for value in values.values()):  # waits for a GPU only once
        return
    name = next(name for name, value in values.items() if value.isnan().any())
    where = ""
    if values[name].dim() and "metadata" in output:
        first = int(values[name].isnan().nonzero()[0, 0])
        where = f" for {shorten(output['metadata'][first])}"
    raise ConfigurationError(
        f"the output {name!r} of {type(model).__name__} is not a number (NaN){where}: its weights "
        "are spoilt; train it again with a lower learning rate (trainer.optimizer.lr), or limit "
        "gradients with trainer.grad_norm"
    )


def _describe_internals(output_dict: Output, prefix: str, encoder: InterpretableEncoder) -> None:
    """Replace an encoder's internals of one text of each example by what people can read."""
    internals = {name: output_dict.pop(prefix + name) for name in encoder.internal_names}
    for row, tokens in enumerate(_take_tokens(output_dict, prefix)):
        own = {name: tensor[row] for name, tensor in internals.items()}
        for name, value in encoder.describe(own, tokens).items():
            output_dict.setdefault(prefix + name, []).append(value)


def _take_tokens(output_dict: Output, prefix: str) -> list[list[str]]:
    """Return the tokens of each sentence of a batch. Remove `num_tokens` from the output.

    This package's readers put them into the metadata, as `premise_tokens` for the prefix
    `"premise_"`. With another reader, a token is named by its position.
    """
    lengths = output_dict.pop(f"{prefix}num_tokens").tolist()
    all_metadata = output_dict.get("metadata", [{}] * len(lengths))
    all_tokens = [metadata.get(f"{prefix}tokens", []) for metadata in all_metadata]
    return [
        tokens if len(tokens) == length else [str(i) for i in range(length)]
        for tokens, length in zip(all_tokens, lengths)
    ]


def add_attention(
    output_dict: Output, name: str, weights: Optional[Tensor], *masks: Tensor
) -> None:
    """Add attention, if there is any, to the output of `forward`.

    The `name` is such as `"premise_attention"`. The weights are vectors (B, T) or matrices
    (B, R, C), with a right-padded mask for each dimension: (B, T), or (B, R) and (B, C).
    """
    if weights is None:
        return
    output_dict[name] = weights
    lengths = [mask.sum(dim=1) for mask in masks]  # (B,) each
    output_dict[name + _LENGTHS] = torch.stack(lengths, dim=1)  # (B, 1) or (B, 2)


def attend_to_each_other(
    encoded: Tensor, scored: Tensor, mask: Tensor, matrix_attention: torch.nn.Module
) -> tuple[Tensor, Output]:
    """Let each token of B pairs attend to the tokens of the other sentence.

    The tokens of B premises and then of B hypotheses are `encoded` (2B, T, E) with the `mask`
    (2B, T); `matrix_attention` scores them against each other by `scored` (2B, T, F).

    Return the sums (2B, T, E) of what each token attends to, and for the output
    `premise_attention` and `hypothesis_attention` (B, T, T), a row of weights for each token.
    """
    similarity = matrix_attention(*scored.chunk(2))  # (B, T, T)
    similarities = torch.cat([similarity, similarity.transpose(1, 2)])  # (2B, T, T)
    B = len(similarity)
    # Rolled by B, the rows belong to the other sentences.
    other_mask = mask.roll(B, dims=0)  # (2B, T)
    attention = masked_softmax(similarities, other_mask.unsqueeze(1))  # (2B, T, T)
    shown: Output = {}
    add_attention(shown, "premise_attention", attention[:B], mask[:B], mask[B:])
    add_attention(shown, "hypothesis_attention", attention[B:], mask[B:], mask[:B])
    return attention.bmm(encoded.roll(B, dims=0)), shown
