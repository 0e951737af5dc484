"""Convert texts to the indices of their words, without instances and fields.

AllenNLP makes an object of each token and of each field, which takes longer than a small encoder.
"""

from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import LettersDigitsTokenizer, Tokenizer, WhitespaceTokenizer

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import TokenizingReader
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.standalone.splitters import (
    LettersDigitsSplitter,
    Splitter,
    WhitespaceSplitter,
)
from allennlp_sentmatch.standalone.text_indexer import TextIndexer


def text_indexer(reader: DatasetReader, vocab: Vocabulary) -> TextIndexer:
    """Return an indexer that gives a text the indices that the reader's instance would get.

    Raise `ConfigurationError`, with the reason, if the reader cannot be replaced: it must be one of
    this package, with one token indexer "single_id" and a tokenizer that `_splitter` knows.
    """
    is_own = type(reader).__module__.startswith("allennlp_sentmatch.")
    if not isinstance(reader, TokenizingReader) or not is_own:
        name = type(reader).__name__
        raise ConfigurationError(f"the reader is a {name}, not one of allennlp_sentmatch")
    indexers = list(reader._token_indexers.values())
    indexer = indexers[0] if len(indexers) == 1 else None
    if indexer is None or type(indexer) is not SingleIdTokenIndexer:
        raise ConfigurationError(
            "the reader's token_indexers must be a single one of type 'single_id', not "
            f"{', '.join(type(indexer).__name__ for indexer in indexers)}"
        )
    namespace = indexer.namespace
    adds = indexer._start_tokens or indexer._end_tokens or indexer._token_min_padding_length
    if namespace is None or indexer._feature_name != "text" or adds:
        raise ConfigurationError(
            "the token indexer 'single_id' must index the words' text, and must not have "
            "start_tokens, end_tokens or token_min_padding_length"
        )
    known = vocab.get_token_to_index_vocabulary(namespace)
    unknown = known.get(vocab._oov_token)
    if known.get(vocab._padding_token) != 0 or unknown is None:
        raise ConfigurationError(f"the namespace {namespace!r} has no padding and no unknown word")
    lowercase = indexer.lowercase_tokens
    # The word that replaces a text without words; its lower-case form may be in the vocabulary.
    word = reader._unknown_word.lower() if lowercase else reader._unknown_word
    splitter = _splitter(reader._tokenizer)
    empty = known.get(word, unknown)
    return TextIndexer(splitter, known, unknown, empty, lowercase, reader._max_length)


def _splitter(tokenizer: Tokenizer) -> Splitter:
    """Return the splitter that a tokenizer is; raise `ConfigurationError` for other tokenizers."""
    if type(tokenizer) is SpacyBlankTokenizer:
        return tokenizer.splitter()
    if type(tokenizer) is WhitespaceTokenizer:
        return WhitespaceSplitter()
    if type(tokenizer) is LettersDigitsTokenizer:
        return LettersDigitsSplitter()
    raise ConfigurationError(
        "the tokenizer must be spacy_blank, whitespace or letters_digits, not a "
        f"{type(tokenizer).__name__}"
    )
