"""Convert values of word pieces, from a transformer or a byte pair encoding, to words."""

import re
from collections.abc import Sequence

import numpy
import torch
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import TextFieldTensors, Token
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN
from allennlp.modules import TextFieldEmbedder
from torch import Tensor

from allennlp_sentmatch.data.tokenizers.bpe_tokenizer import END_OF_WORD, JOINER
from allennlp_sentmatch.inspection.hooks import transformer_embedder
from allennlp_sentmatch.predictors.echoing_predictor import AttentionMap

CONTINUATION = "##"  # begins a word piece within a word, as in BERT
SPACES = "▁Ġ"  # how SentencePiece and byte-level BPE write a space
SPECIAL_TOKENS = (START_SYMBOL, END_SYMBOL, DEFAULT_OOV_TOKEN)


def unfold_segments(values: Tensor, embedder: TextFieldEmbedder) -> Tensor:
    """Join the segments of a text that a transformer with `max_length` reads one by one.

    Each segment has special tokens, which remain only at the beginning and at the end of the text.

    # Parameters

    values : `Tensor`
        The values (segments, T) of the word pieces.
    embedder : `TextFieldEmbedder`
        The embedder that has read them.

    # Returns

    The values (T',) of the whole text; the first segment's for other embedders.
    """
    transformer = transformer_embedder(embedder)
    if len(values) == 1 or transformer is None:
        return values[0]
    start = transformer._num_added_start_tokens
    end = values.size(1) - transformer._num_added_end_tokens
    inner = values[:, start:end].flatten()
    return torch.cat([values[0, :start], inner, values[-1, end:]])


def sum_over_words(values: Tensor, tensors: TextFieldTensors) -> Tensor:
    """Sum the values (word pieces,) of each word's pieces.

    The indexer "exported_encoder" or a mismatched indexer has split the first text of a batch, with
    these `tensors`, into these pieces. With other indexers, the values do not change.
    """
    for arguments in tensors.values():
        if "offsets" in arguments:
            # Shape: (number of words, 2), first and last piece; both -1 for a word without pieces
            ends = arguments["offsets"][0].tolist()
            return _sums([values[first : last + 1] for first, last in ends])
        if "num_parts" in arguments:
            sizes = arguments["num_parts"][0].tolist()
            return _sums(values.split(sizes))
    return values


def _sums(parts: Sequence[Tensor]) -> Tensor:
    """Return the sum of each part, (number of parts,)."""
    if not parts:
        return torch.zeros(0)
    return torch.stack([part.sum() for part in parts])


def join_word_pieces(
    tokens: Sequence[Token], values: Sequence[float]
) -> tuple[list[str], list[float]]:
    """Join the tokens of AllenNLP's `pretrained_transformer` tokenizer to words; add their values.

    Special tokens are left out. A piece is not joined on a side with a punctuation mark. Tokens of
    other tokenizers are words already.

    # Returns

    The words, and the sum of each word's values.
    """
    are_pieces = any(token.text_id is not None for token in tokens)
    if not are_pieces:
        return [str(token.text) for token in tokens], list(values)
    words: list[str] = []
    sums: list[float] = []
    end = None  # where the last piece ends, in characters
    for token, value in zip(tokens, values):
        if token.idx is None:  # a special token
            end = None
            continue
        text = str(token.text).removeprefix(CONTINUATION)
        text = text.lstrip(SPACES) or text
        is_adjacent = token.idx == end
        end = token.idx_end
        if is_adjacent and words[-1][-1].isalnum() and text[0].isalnum():
            words[-1] += text
            sums[-1] += value
        else:
            words.append(text)
            sums.append(value)
    return words, sums


def join_subwords(attention: AttentionMap) -> AttentionMap:
    """Join the subwords of `BpeTokenizer` to words.

    The attention to a word is the sum over its subwords; the attention of a word is the mean.
    Tokens of other tokenizers do not change.
    """
    tokens = [*attention.rows, *attention.columns]
    if not any(token.endswith(END_OF_WORD) for token in tokens):
        return attention
    rows, row_starts = _join(attention.rows)
    columns, column_starts = _join(attention.columns)
    weights = numpy.array(attention.weights)
    to_words = numpy.add.reduceat(weights, column_starts, axis=1)
    sums = numpy.add.reduceat(to_words, row_starts, axis=0)
    counts = numpy.diff([*row_starts, len(attention.rows)])
    means = sums / counts[:, None]
    return AttentionMap(attention.title, means.tolist(), rows, columns)


def _join(tokens: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the words that subwords form, and the positions of their first subwords."""
    words: list[str] = []
    starts: list[int] = []
    is_complete = True
    for position, token in enumerate(tokens):
        is_special = token in SPECIAL_TOKENS
        if is_complete or is_special:
            words.append("")
            starts.append(position)
        is_complete = is_special or token.endswith(END_OF_WORD)
        words[-1] += re.sub(f"{JOINER}|{END_OF_WORD}$", "", token)
    return words, starts
