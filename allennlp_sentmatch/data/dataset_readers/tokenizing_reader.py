"""Readers that split texts into tokens and index them."""

import logging
from typing import Any, Optional

from allennlp.data.fields import TextField
from allennlp.data.instance import Instance
from allennlp.data.token_indexers import (
    PretrainedTransformerIndexer,
    PretrainedTransformerMismatchedIndexer,
    SingleIdTokenIndexer,
    TokenIndexer,
)
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, Token, Tokenizer
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, DEFAULT_PADDING_TOKEN

from allennlp_sentmatch.data.dataset_readers.configured_reader import ConfiguredReader
from allennlp_sentmatch.data.instances import text_fields
from allennlp_sentmatch.data.text import check_text
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.messages import shorten

logger = logging.getLogger(__name__)


class TokenizingReader(ConfiguredReader):
    """Makes text fields and gives them their indexers. Not registered itself.

    A text without a single token becomes one out-of-vocabulary token: `@@UNKNOWN@@`, or the unknown
    token of the pretrained transformer that reads the text, such as `[UNK]`. Real data have such
    texts (three pairs of the Quora release), and neither AllenNLP's encoders nor `torch.nn.LSTM`
    take a batch in which every sentence is empty.

    The word `@@PADDING@@`, which AllenNLP's vocabulary takes for padding, becomes this token, too.
    The log says once if a text is cut, by the reader or by a transformer's tokenizer.

    # Parameters

    tokenizer : `Tokenizer`, optional (default = `SpacyBlankTokenizer()`)
        Splits every text.
    token_indexers : `dict[str, TokenIndexer]`, optional
            (default = `{"tokens": SingleIdTokenIndexer()}`)
    max_length : `int`, optional (default = `None`)
        Tokens past this number, which includes tokens that the tokenizer adds, are left out.
    """

    @inherits_settings(ConfiguredReader)
    def __init__(
        self,
        tokenizer: Optional[Tokenizer] = None,
        token_indexers: Optional[dict[str, TokenIndexer]] = None,
        max_length: Optional[int] = None,
        **settings: Any,
    ) -> None:
        super().__init__(max_length, **settings)
        self._tokenizer = tokenizer or SpacyBlankTokenizer()
        self._token_indexers = token_indexers or {"tokens": SingleIdTokenIndexer()}
        # If the indexers have several unknown words, AllenNLP's is as good as any.
        unknown_words = {_unknown_word(indexer) for indexer in self._token_indexers.values()}
        self._unknown_word = DEFAULT_OOV_TOKEN
        if len(unknown_words) == 1:
            self._unknown_word = unknown_words.pop()
        self._has_logged_cut = False

    def _text_field(self, text: str, name: str) -> TextField:
        """Return the tokens of `text`, without indexers; `name` is what an error calls it."""
        return self._field_of_tokens(self._tokenize(text, name))

    def _tokenize(self, text: str, name: str) -> list[Token]:
        text = check_text(text, name)
        tokens = self._count(self._tokenizer.tokenize(text))
        if _is_cut(tokens, text, self._tokenizer):
            self._log_cut(text, len(tokens))
        elif self._max_length is not None and len(tokens) > self._max_length:
            self._log_cut(text, self._max_length)
        return tokens

    def _log_cut(self, text: str, length: int) -> None:
        if not self._has_logged_cut:
            self._has_logged_cut = True
            logger.warning(
                f"a text is cut after {length} tokens (max_length), and others may be, without "
                f"another message: {shorten(text)}"
            )

    def _field_of_tokens(self, tokens: list[Token]) -> TextField:
        tokens = without_padding_word(tokens[: self._max_length], self._unknown_word)
        return TextField(tokens or [Token(self._unknown_word)])

    def apply_token_indexers(self, instance: Instance) -> None:
        """Give every text field of the `instance`, alone or in a list, its token indexers."""
        for field in text_fields(instance):
            field.token_indexers = self._token_indexers


def without_padding_word(tokens: list[Token], unknown_word: str) -> list[Token]:
    """Return tokens with `unknown_word` for the word `@@PADDING@@`.

    In every vocabulary that word has the index of padding.
    """
    words = list(tokens)
    for position, token in enumerate(tokens):
        # A transformer's tokenizer numbers its tokens, without the vocabulary.
        if token.text == DEFAULT_PADDING_TOKEN and token.text_id is None:
            words[position] = Token(unknown_word, token.idx, token.idx_end)
    return words


def _is_cut(tokens: list[Token], text: str, tokenizer: Tokenizer) -> bool:
    """Return whether a transformer's tokenizer has cut off the end of a text."""
    if not isinstance(tokenizer, PretrainedTransformerTokenizer):
        return False
    if tokenizer._max_length is None or len(tokens) < tokenizer._max_length:
        return False
    ends = [token.idx_end for token in tokens if token.idx_end is not None]
    return max(ends, default=len(text)) < len(text.rstrip())


def _unknown_word(indexer: TokenIndexer) -> str:
    """Return the word that an indexer reads as unknown."""
    transformers = (PretrainedTransformerIndexer, PretrainedTransformerMismatchedIndexer)
    if isinstance(indexer, transformers):
        # A transformer would split `@@UNKNOWN@@` into pieces.
        return str(indexer._tokenizer.special_tokens_map.get("unk_token", DEFAULT_OOV_TOKEN))
    return DEFAULT_OOV_TOKEN
