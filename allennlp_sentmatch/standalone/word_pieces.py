"""Split a text into BERT's word pieces."""

from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.standalone.splitters import Splitter, Words

UNKNOWN = "[UNK]"
MAX_WORD_LENGTH = 100

PLAIN_MARKS = {
    "\u2018": "'",  # single quotes
    "\u2019": "'",
    "\u201c": '"',  # double quotes
    "\u201d": '"',
    "\u2010": "-",  # hyphens
    "\u2011": "-",
    "\u2013": "-",  # en dash
    "\u2014": " - ",  # em dash
    "\u2212": "-",  # minus sign
    "\u2026": "...",
    **{chr(code): normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},  # ligatures
}
"""The marks and ligatures of typeset text, and what a keyboard has for them."""


class WordPieceSplitter(Splitter):
    """Splits as the tokenizer of a BERT model in lower case does, without special tokens.

    Accents and control characters are removed; Chinese characters and punctuation marks are
    separate words; a word of more than 100 characters is unknown. The library `tokenizers` does
    this.

    # Parameters

    pieces : `Sequence[str]`
        The vocabulary, which is saved separately: distinct strings, including "[UNK]". Pieces
        within a word begin with "##".
    plain_marks : `bool`, optional (default = `False`)
        Whether the marks of typeset text are read as `PLAIN_MARKS` says. The encoder in the package
        has learned from text with plain marks only.

    # Raises

    `ValueError` for a vocabulary without "[UNK]", or with invalid Unicode. `ImportError` if the
    library is not installed.
    """

    type = "word_pieces"

    def __init__(self, pieces: Sequence[str], plain_marks: bool = False) -> None:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

        self._plain_marks = plain_marks
        if UNKNOWN not in pieces:
            raise ValueError(f"there is no {UNKNOWN!r} in the vocabulary of word pieces")
        vocabulary = {piece: index for index, piece in enumerate(pieces)}
        try:
            model = models.WordPiece(
                vocab=vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=MAX_WORD_LENGTH
            )
        except TypeError:  # JSON may contain halves of surrogate pairs
            raise ValueError("a word piece is not valid Unicode") from None
        self.tokenizer = Tokenizer(model)
        steps: list[Any] = [normalizers.BertNormalizer(lowercase=True)]
        if plain_marks:
            steps += [normalizers.Replace(mark, plain) for mark, plain in PLAIN_MARKS.items()]
        self.tokenizer.normalizer = normalizers.Sequence(steps)
        self.tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    def settings(self) -> JsonObject:
        """Return the type and, if it is true, `plain_marks`.

        Archives have a digest of these settings from before there was `plain_marks`. The vocabulary
        is saved separately.
        """
        settings = super().settings()
        if self._plain_marks:
            settings["plain_marks"] = True
        return settings

    def words_of_chunk(self, chunk: str) -> Words:
        """Return the chunk's word pieces, without halves of surrogate pairs."""
        valid = chunk.encode("utf-8", "ignore").decode()
        return tuple(self.tokenizer.encode(valid, add_special_tokens=False).tokens)
