"""The word pieces of an exported sentence encoder as a `TokenIndexer`."""

from typing import Optional

from allennlp.common.checks import ConfigurationError
from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers.token_indexer import IndexedTokenList

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter


@TokenIndexer.register("exported_encoder")
class ExportedEncoderIndexer(TokenIndexer):
    """Indexes tokens in the vocabulary of a sentence encoder that `allennlp export` has written.

    A token has one index or, in an encoder of word pieces, one or more. AllenNLP's vocabulary is
    not used. For the embedder "exported_encoder".

    # Parameters

    folder : `Union[str, PathLike]`, optional (default = `None`)
        By default the encoder that this package contains.
    token_min_padding_length : `int`, optional (default = `0`)
        As in AllenNLP's indexers.
    """

    def __init__(
        self,
        folder: Optional[AnyPath] = None,
        token_min_padding_length: int = 0,
    ) -> None:
        super().__init__(token_min_padding_length)
        self._indexer = load_exported(folder).indexer

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Do nothing: the encoder has its own vocabulary."""

    def knows(self, word: str) -> bool:
        """Return whether the encoder knows a word or a part of it."""
        return not self._indexer.knows_no_word(self._indexer.indices(word))

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        """Return the tokens' indices.

        `token_ids` has the indices of all tokens' parts, `num_parts` the number of each token's
        parts, and `mask` `True` for each token.
        """
        parts = [self._indexer.indices(token.ensure_text()) for token in tokens]
        return {
            "token_ids": [index for indices in parts for index in indices],
            "num_parts": [len(indices) for indices in parts],
            "mask": [True] * len(tokens),
        }

    def get_empty_token_list(self) -> IndexedTokenList:
        """Return empty lists."""
        return {"token_ids": [], "num_parts": [], "mask": []}


def load_exported(folder: Optional[AnyPath]) -> StandaloneEncoder:
    """Load the encoder in a folder, by default this package's.

    Raise `ConfigurationError` if the folder has none.
    """
    try:
        encoder = StandaloneEncoder.load(SENTENCE_ENCODER if folder is None else folder)
    except (ValueError, OSError) as error:
        raise ConfigurationError(f"exported_encoder: {error}") from error
    if folder is None:
        # Archives were trained without plain marks, and have a digest of the splitter's settings.
        encoder.indexer.splitter = WordPieceSplitter(encoder.words)
    return encoder
