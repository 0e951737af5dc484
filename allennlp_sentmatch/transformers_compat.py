"""Patches that AllenNLP 2.10.1 needs on transformers 4.46, each with its reason.

AllenNLP's last release was written for transformers 4.20. Importing this module patches its
transformer components; each function says what failed.
"""

import functools
import inspect
from typing import Any, Optional

import torch
from allennlp.common import cached_transformers
from allennlp.common.checks import ConfigurationError
from allennlp.data.token_indexers import PretrainedTransformerIndexer
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from allennlp.modules.token_embedders import PretrainedTransformerEmbedder
from transformers import PreTrainedTokenizerBase


def patch_special_tokens() -> None:
    """Construct the tokenizers of transformers without `add_special_tokens`.

    AllenNLP's `PretrainedTransformerTokenizer` passes it to the constructor, and transformers
    refuses it since it has a method of that name: "add_special_tokens conflicts with the method
    add_special_tokens in BertTokenizerFast". The constructor does not need it: AllenNLP decides for
    each text whether to add special tokens.
    """
    try:
        PreTrainedTokenizerBase(add_special_tokens=False)
    except AttributeError:
        pass
    else:
        return
    get_tokenizer = cached_transformers.get_tokenizer

    def get(model_name: str, *, add_special_tokens: bool = True, **kwargs: Any) -> Any:
        return get_tokenizer(model_name, **kwargs)

    cached_transformers.get_tokenizer = get


def patch_gradient_checkpointing() -> None:
    """Let the setting `gradient_checkpointing` of a transformer's embedder have an effect.

    AllenNLP writes it into the configuration of a transformer that is already constructed, where
    transformers no longer reads it: it was silently ignored.
    """
    embedder: Any = PretrainedTransformerEmbedder
    construct = embedder.__init__

    @functools.wraps(construct)
    def construct_and_set(
        self: Any,
        *args: Any,
        gradient_checkpointing: Optional[bool] = None,
        **kwargs: Any,
    ) -> None:
        construct(self, *args, gradient_checkpointing=gradient_checkpointing, **kwargs)
        transformer = self.transformer_model
        if gradient_checkpointing:
            enable = transformer.gradient_checkpointing_enable
            # With transformers' default, trained layers above frozen ones get no gradient.
            # transformers 4.20 has only this form.
            settings = {"gradient_checkpointing_kwargs": {"use_reentrant": False}}
            enable(**(settings if inspect.signature(enable).parameters else {}))
        elif gradient_checkpointing is not None:
            transformer.gradient_checkpointing_disable()

    embedder.__init__ = construct_and_set


def patch_position_ids() -> None:
    """Load a transformer from an archive that was made with transformers 4.30 or earlier.

    Its weights contain the numbers of the positions, 0 to 511, which later versions do not save:
    "Unexpected key(s) in state_dict: ...embeddings.position_ids".
    """

    def load(self: Any, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        own = {prefix + key for key in self.state_dict()}
        for key in [key for key in state_dict if key.startswith(prefix)]:
            if key.endswith(".position_ids") and key not in own:
                del state_dict[key]
        torch.nn.Module._load_from_state_dict(self, state_dict, prefix, *args)

    embedder: Any = PretrainedTransformerEmbedder
    embedder._load_from_state_dict = load


def patch_type_ids() -> None:
    """Read pairs with a transformer that does not number the two sentences.

    AllenNLP's tokenizer numbers them for every transformer, and its embedder refuses the numbers if
    the transformer has no vectors for them, such as DistilBERT, MPNet and DeBERTa: "Found type ids
    too large for the chosen transformer model". transformers leaves the numbers out.
    """
    embedder: Any = PretrainedTransformerEmbedder
    forward = embedder.forward

    @functools.wraps(forward)  # the text field embedder reads the signature
    def forward_known(
        self: Any,
        token_ids: Any,
        mask: Any,
        type_ids: Any = None,
        segment_concat_mask: Any = None,
    ) -> Any:
        known = type_ids if self._number_of_token_type_embeddings() > 1 else None
        return forward(self, token_ids, mask, known, segment_concat_mask)

    embedder.forward = forward_known


def patch_long_texts() -> None:
    """Say that a text is longer than the transformer reads.

    transformers' own errors do not: "The expanded size of the tensor (600) must match the existing
    size (512) at non-singleton dimension 1", or "index out of range in self".
    """
    embedder: Any = PretrainedTransformerEmbedder
    forward = embedder.forward

    @functools.wraps(forward)  # the text field embedder reads the signature
    def forward_or_explain(self: Any, token_ids: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return forward(self, token_ids, *args, **kwargs)
        except (IndexError, RuntimeError) as error:
            num_pieces = token_ids.size(1)
            limit = getattr(self.config, "max_position_embeddings", num_pieces)
            if num_pieces <= limit:
                raise
            raise ConfigurationError(
                f"a text has {num_pieces} word pieces, but the transformer reads up to {limit}: "
                "cut texts by the reader's `max_length`, or let the indexer and the embedder "
                "divide them by their `max_length`"
            ) from error

    embedder.forward = forward_or_explain


def patch_segments() -> None:
    """Let a transformer with `max_length` read a text without word pieces.

    AllenNLP divides the word pieces of a text into segments of `max_length` and gives each its
    special tokens; without word pieces, there were no segments, and the transformer got no input:
    "max(): Expected reduction dim to be specified for input.numel() == 0". In a batch with a text
    of several segments, an assertion failed when the segments' vectors were joined.
    """
    indexer: Any = PretrainedTransformerIndexer
    divide = indexer._postprocess_output

    def divide_if_any(self: Any, output: IndexedTokenList) -> Any:
        special = self._num_added_start_tokens + self._num_added_end_tokens
        if self._max_length is None or len(output["token_ids"]) > special:
            return divide(self, output)
        return {**output, "segment_concat_mask": [True] * len(output["token_ids"])}

    embedder: Any = PretrainedTransformerEmbedder
    join = embedder._unfold_long_sequences

    def join_if_any(
        self: Any,
        embeddings: torch.Tensor,
        mask: torch.Tensor,
        batch_size: int,
        *args: Any,
    ) -> torch.Tensor:
        special = self._num_added_tokens
        # Shape: (batch_size, segments * max_length)
        whole_mask = mask.reshape(batch_size, -1)
        without_pieces = whole_mask.sum(dim=1) <= special
        # Give such a text one word piece while vectors are joined.
        is_piece = torch.arange(whole_mask.size(1), device=mask.device) == special
        whole_mask = whole_mask | (without_pieces[:, None] & is_piece)
        joined = join(self, embeddings, whole_mask.reshape(mask.shape), batch_size, *args)
        # Shape: (batch_size, special, D)
        first = embeddings.reshape(batch_size, -1, embeddings.size(-1))[:, :special]
        first = torch.where(without_pieces[:, None, None], first, joined[:, :special])
        return torch.cat([first, joined[:, special:]], dim=1)

    indexer._postprocess_output = divide_if_any
    embedder._unfold_long_sequences = join_if_any


patch_special_tokens()
patch_gradient_checkpointing()
patch_position_ids()
patch_type_ids()
patch_long_texts()
patch_segments()
