"""The splitting of texts into indices as a `tokenizers.Tokenizer`, for programs without PyTorch.

The library is described at https://huggingface.co/docs/tokenizers. A tokenizer normalizes a text,
splits it into words, and then looks them up or splits them into word pieces.
"""

from typing import Any

from allennlp_sentmatch.standalone.splitters import LettersDigitsSplitter, WhitespaceSplitter
from allennlp_sentmatch.standalone.text_indexer import PADDING, PADDING_WORD, TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter

STAND_IN = "\x1f"
"""Replaces `PADDING_WORD` while a text is lower-cased, so that no text can contain it."""


def tokenizer_of(indexer: TextIndexer, words: list[str]) -> Any:
    """Return the `tokenizers.Tokenizer` that gives a text the same indices.

    `words` is the vocabulary in the order of its indices. For a splitter by spaCy's rules, there is
    no such tokenizer, and the result is `None`. If words are in lower case, it may lower-case İ and
    a final Σ differently.
    """
    from tokenizers import Regex, Tokenizer, normalizers

    # Python's str.split also splits at these control characters, which include STAND_IN.
    steps: list[Any] = [normalizers.Replace(Regex("[\x0b\x0c\x1c-\x1f\x85]"), " ")]
    splitter = indexer.splitter
    if isinstance(splitter, WordPieceSplitter):
        tokenizer = Tokenizer.from_str(splitter.tokenizer.to_str())  # a copy
        steps.append(tokenizer.normalizer)
    elif isinstance(splitter, (WhitespaceSplitter, LettersDigitsSplitter)):
        tokenizer = _word_tokenizer(indexer, words)
        steps += _word_normalizers(indexer, words)
    else:
        return None
    tokenizer.normalizer = normalizers.Sequence(steps)
    if indexer.max_length is not None:
        tokenizer.enable_truncation(indexer.max_length)
    tokenizer.enable_padding(pad_id=PADDING, pad_token=words[PADDING])
    return tokenizer


def _word_tokenizer(indexer: TextIndexer, words: list[str]) -> Any:
    """Return a tokenizer of whole words, without what normalizes them."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    # No word contains a space, so these names do not collide with words.
    known = {word: index for word, index in indexer.vocabulary.items() if index != PADDING}
    known[f" {words[PADDING]}"] = PADDING
    model = models.WordLevel(known, unk_token=words[indexer.unknown])
    tokenizer = Tokenizer(model)
    splits: list[Any] = [pre_tokenizers.WhitespaceSplit()]
    if isinstance(indexer.splitter, LettersDigitsSplitter):
        runs = Regex(r"[\p{L}\p{Nl}\p{No}]+|\p{Nd}+|\S")
        splits.append(pre_tokenizers.Split(runs, "isolated"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    return tokenizer


def _word_normalizers(indexer: TextIndexer, words: list[str]) -> list[Any]:
    """Return what lowers the case of a text, and replaces `PADDING_WORD` if it is a whole word."""
    from tokenizers import Regex, normalizers

    steps: list[Any] = [normalizers.Lowercase()] if indexer.lowercase else []
    if isinstance(indexer.splitter, LettersDigitsSplitter):
        return steps
    whole = Regex(rf"(?<!\S){PADDING_WORD}(?!\S)")
    before = normalizers.Replace(whole, STAND_IN)
    after = normalizers.Replace(STAND_IN, words[indexer.empty])
    return [before, *steps, after]
