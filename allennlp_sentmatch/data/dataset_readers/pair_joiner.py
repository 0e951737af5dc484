"""Pairs of sentences as the single text that a cross-encoder reads."""

from typing import NamedTuple, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.fields import MetadataField
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, Token, Tokenizer

UNLIMITED = 1_000_000
"""The tokenizer's maximum length is 10^30 if the transformer states none."""


class JoinedPair(NamedTuple):
    """The tokens of a pair.

    `spans` has for each sentence, by `premise` and `hypothesis`, the position of its first token
    and of the one after its last.
    """

    tokens: list[Token]
    spans: dict[str, tuple[int, int]]
    was_cut: bool


def joined_spans(instance: Instance) -> dict[str, slice]:
    """Return the parts of the field `tokens` that are the `premise` and the `hypothesis`.

    It is empty for an instance that is not a joined pair.
    """
    metadata = instance.fields.get("metadata")
    values = metadata.metadata if isinstance(metadata, MetadataField) else {}
    spans = {}
    for name in ("premise", "hypothesis"):
        if f"{name}_span" in values:
            spans[name] = slice(*values[f"{name}_span"])
    return spans


class PairJoiner:
    """Joins two sentences as a pretrained transformer reads pairs: `[CLS] a [SEP] b [SEP]` in BERT.

    The tokens have the transformer's type ids, if it has any: 0 and 1 for BERT's two sentences.

    The tokenizer is "pretrained_transformer", which makes word pieces; whether it adds special
    tokens does not matter. A pair has at most `max_length` tokens, the special ones included, by
    default, the transformer's maximum according to its tokenizer. The longer sentence is cut first,
    until both have the same length.

    Raise `ConfigurationError` for another tokenizer, for one that cuts sentences itself, and for a
    `max_length` that is too small.
    """

    def __init__(self, tokenizer: Tokenizer, max_length: Optional[int] = None) -> None:
        if not isinstance(tokenizer, PretrainedTransformerTokenizer):
            raise ConfigurationError(
                "combine_input_fields needs the tokenizer pretrained_transformer, which knows how "
                f"its transformer reads pairs; got {type(tokenizer).__name__}"
            )
        if tokenizer._max_length is not None:
            raise ConfigurationError(
                f"with combine_input_fields, the tokenizer's max_length={tokenizer._max_length} "
                "would cut each sentence alone; set the reader's max_length, which limits the pair"
            )
        num_special_tokens = tokenizer.num_special_tokens_for_pair()
        if max_length is None:
            max_length = tokenizer.tokenizer.model_max_length
        if max_length < num_special_tokens + 2:
            raise ConfigurationError(
                f"max_length={max_length}: expected at least {num_special_tokens + 2}, with which "
                f"a token of each sentence remains in addition to {num_special_tokens} special ones"
            )
        self.max_length = max_length if max_length < UNLIMITED else None
        self._tokenizer = tokenizer
        self._num_special_tokens = num_special_tokens

    def join(self, premise: str, hypothesis: str) -> JoinedPair:
        """Tokenize and join two sentences."""
        first = self._word_pieces(premise)
        second = self._word_pieces(hypothesis)
        first_length, second_length = self._lengths(len(first), len(second))
        tokens = self._tokenizer.add_special_tokens(first[:first_length], second[:second_length])
        start = len(self._tokenizer.sequence_pair_start_tokens)
        end = start + first_length
        second_start = end + len(self._tokenizer.sequence_pair_mid_tokens)
        spans = {
            "premise": (start, end),
            "hypothesis": (second_start, second_start + second_length),
        }
        was_cut = first_length + second_length < len(first) + len(second)
        return JoinedPair(tokens, spans, was_cut)

    def _word_pieces(self, text: str) -> list[Token]:
        tokens = self._tokenizer.tokenize(text)
        if not self._tokenizer._add_special_tokens:
            return tokens
        start = len(self._tokenizer.single_sequence_start_tokens)
        return tokens[start : len(tokens) - len(self._tokenizer.single_sequence_end_tokens)]

    def _lengths(self, first: int, second: int) -> tuple[int, int]:
        """Return the sentences' lengths after cutting the longer one; in ties, the second one is
        cut.
        """
        if self.max_length is None:
            return first, second
        available = self.max_length - self._num_special_tokens
        if first + second <= available:
            return first, second
        # A sentence that is shorter than half of the available length is not cut.
        first = min(first, max(available - available // 2, available - second))
        return first, available - first
