"""The words of an instance that are not in a model's vocabulary."""

from allennlp.data import Instance, TokenIndexer, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from allennlp_sentmatch.data.instances import text_fields, words_of
from allennlp_sentmatch.data.token_indexers import ExportedEncoderIndexer


def unknown_words(instance: Instance, vocab: Vocabulary) -> list[str]:
    """Return the words of an instance that a model reads as the unknown word, in order, each once.

    The instance has token indexers; those other than "single_id" and "exported_encoder" know every
    word.
    """
    words = []
    for field in text_fields(instance):
        indexers = (field._token_indexers or {}).values()
        for word in words_of(field):
            if not all(_knows(indexer, word, vocab) for indexer in indexers):
                words.append(word)
    return list(dict.fromkeys(words))


def knows_no_word(instance: Instance, vocab: Vocabulary) -> bool:
    """Return whether no word of an instance, apart from punctuation, is in the vocabulary."""
    unknown = unknown_words(instance, vocab)
    words = {word for field in text_fields(instance) for word in words_of(field)}
    known = words.difference(unknown)
    return bool(unknown) and not any(_has_letter_or_digit(word) for word in known)


def _has_letter_or_digit(word: str) -> bool:
    return any(map(str.isalnum, word))


def _knows(indexer: TokenIndexer, word: str, vocab: Vocabulary) -> bool:
    if isinstance(indexer, ExportedEncoderIndexer):
        return indexer.knows(word)
    if not isinstance(indexer, SingleIdTokenIndexer):
        return True
    if indexer.namespace is None or indexer._feature_name != "text":
        return True
    if indexer.lowercase_tokens:
        word = word.lower()
    return word in vocab.get_token_to_index_vocabulary(indexer.namespace)
