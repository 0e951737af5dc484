"""From values of the word pieces of a pretrained transformer to values of words."""

from collections.abc import Sequence

import torch
from allennlp.data import TextFieldTensors, Token
from allennlp.modules import TextFieldEmbedder
from torch import Tensor

from allennlp_sentmatch.inspection.embedding_hooks import transformer_embedder

CONTINUATION = "##"  # of BERT's word pieces
SPACES = "▁Ġ"  # how SentencePiece and byte-level BPE write a space


def unfold_segments(values: Tensor, embedder: TextFieldEmbedder) -> Tensor:
    """Join the segments of a text that a transformer with `max_length` reads one by one.

    # Parameters

    values : `Tensor`
        (number of segments, T): one segment unless the text is longer than `max_length`. Each has
        special tokens.
    embedder : `TextFieldEmbedder`
        The embedder of the text.

    # Returns

    `Tensor`
        (T,), or for several segments (number of word pieces,), with special tokens at the beginning
        and at the end only; values of padding may follow.
    """
    transformer = transformer_embedder(embedder)
    if len(values) == 1 or transformer is None:
        return values[0]
    start, end = transformer._num_added_start_tokens, transformer._num_added_end_tokens
    inner = values[:, start : values.size(1) - end]
    return torch.cat([values[0, :start], inner.flatten(), values[-1, values.size(1) - end :]])


def sum_over_words(values: Tensor, tensors: TextFieldTensors) -> Tensor:
    """Sum the values of each word's pieces, if the words were split by a mismatched indexer.

    # Parameters

    values : `Tensor`
        (number of word pieces,)
    tensors : `TextFieldTensors`
        Of a batch whose first text has these word pieces.

    # Returns

    `Tensor`
        (number of words,). With another indexer, `values` as they are.
    """
    for arguments in tensors.values():
        if "offsets" in arguments:
            # Shape: (number of words, 2), first and last piece; both -1 for a word without pieces
            offsets = arguments["offsets"][0].tolist()
            sums = [values[first : last + 1].sum() for first, last in offsets]
            return torch.stack(sums) if sums else values[:0]
    return values


def join_word_pieces(
    tokens: Sequence[Token], values: Sequence[float]
) -> tuple[list[str], list[float]]:
    """Join the tokens of AllenNLP's `pretrained_transformer` tokenizer to words.

    Special tokens are left out. A piece that begins or ends with a mark of punctuation is not
    joined at that side.

    # Parameters

    tokens : `Sequence[Token]`
        Tokens of another tokenizer are words already.
    values : `Sequence[float]`
        One for each token; those of a word's pieces are added.

    # Returns

    `tuple[list[str], list[float]]`
        The words and their values.
    """
    words: list[str] = []
    sums: list[float] = []
    end = None  # of the last piece, in characters
    for token, value in zip(tokens, values):
        text = str(token.text)
        if token.text_id is None:  # not a word piece
            words.append(text)
            sums.append(value)
            continue
        if token.idx is None:  # a special token
            end = None
            continue
        text = text[len(CONTINUATION) :] if text.startswith(CONTINUATION) else text
        text = text.lstrip(SPACES) or text
        if token.idx == end and words[-1][-1].isalnum() and text[0].isalnum():
            words[-1] += text
            sums[-1] += value
        else:
            words.append(text)
            sums.append(value)
        end = token.idx_end
    return words, sums
