"""From attention between the subwords of a byte pair encoding to attention between words."""

from collections.abc import Sequence

import numpy
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN

from allennlp_sentmatch.data.tokenizers.bpe_tokenizer import END_OF_WORD
from allennlp_sentmatch.predictors.attention_map import AttentionMap

SPECIAL_TOKENS = (START_SYMBOL, END_SYMBOL, DEFAULT_OOV_TOKEN)


def join_subwords(attention: AttentionMap) -> AttentionMap:
    """Join the subwords of `BpeTokenizer` to words.

    The attention to a word is the sum over its subwords, that of a word the mean over its subwords.
    Tokens of other tokenizers stay as they are.
    """
    if not any(token.endswith(END_OF_WORD) for token in (*attention.rows, *attention.columns)):
        return attention
    rows, row_starts = _join(attention.rows)
    columns, column_starts = _join(attention.columns)
    weights = numpy.add.reduceat(numpy.array(attention.weights), column_starts, axis=1)
    counts = numpy.diff([*row_starts, len(attention.rows)])
    weights = numpy.add.reduceat(weights, row_starts, axis=0) / counts[:, None]
    return AttentionMap(attention.title, weights.tolist(), rows, columns)


def _join(tokens: Sequence[str]) -> tuple[list[str], list[int]]:
    """The words of subwords, and the positions of their first subwords."""
    words: list[str] = []
    starts: list[int] = []
    is_complete = True
    for position, token in enumerate(tokens):
        is_special = token in SPECIAL_TOKENS
        if is_complete or is_special:
            words.append("")
            starts.append(position)
        is_complete = is_special or token.endswith(END_OF_WORD)
        words[-1] += token[: -len(END_OF_WORD)] if token.endswith(END_OF_WORD) else token
    return words, starts
