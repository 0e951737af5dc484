"""Split a text into BERT's word pieces."""

from collections.abc import Sequence

from allennlp_sentmatch.standalone.splitters import Splitter, Words

UNKNOWN = "[UNK]"
MAX_WORD_LENGTH = 100


class WordPieceSplitter(Splitter):
    """Splits as the tokenizer of a BERT model in lower case does, without special tokens.

    Accents and control characters are removed; Chinese characters and punctuation marks are
    separate words; a word of more than 100 characters is unknown. The library `tokenizers` does
    this.

    # Parameters

    pieces : `Sequence[str]`
        The vocabulary, which is saved separately: distinct strings, including "[UNK]". Pieces
        within a word begin with "##".

    # Raises

    `ValueError` for a vocabulary without "[UNK]", or with invalid Unicode. `ImportError` if the
    library is not installed.
    """

    type = "word_pieces"

    def __init__(self, pieces: Sequence[str]) -> None:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

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
        self.tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        self.tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    def words_of_chunk(self, chunk: str) -> Words:
        """Return the chunk's word pieces, without halves of surrogate pairs."""
        valid = chunk.encode("utf-8", "ignore").decode()
        return tuple(self.tokenizer.encode(valid, add_special_tokens=False).tokens)
