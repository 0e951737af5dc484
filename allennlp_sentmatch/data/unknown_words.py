"""The words of an instance that are not in a model's vocabulary."""

from allennlp.data import Instance, TokenIndexer, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import text_fields, words_of
from allennlp_sentmatch.data.token_indexers import ExportedEncoderIndexer


def unknown_words(instance: Instance, vocab: Vocabulary) -> list[str]:
    """Return the words of an instance that a model reads as the unknown word, in order, each once.

    The instance has token indexers; those other than "single_id" and "exported_encoder" know every
    word.
    """
    words = [
        str(token.text)
        for field in text_fields(instance)
        for token in field.tokens
        if not all(
            _knows(indexer, str(token.text), vocab)
            for indexer in (field._token_indexers or {}).values()
        )
    ]
    return list(dict.fromkeys(words))


def knows_no_word(instance: Instance, vocab: Vocabulary) -> bool:
    """Return whether all words of an instance, apart from punctuation, are out of the
    vocabulary.
    """
    unknown = unknown_words(instance, vocab)
    known = {word for field in text_fields(instance) for word in words_of(field)} - {*unknown}
    return bool(unknown) and not any(any(map(str.isalnum, word)) for word in known)


def _knows(indexer: TokenIndexer, word: str, vocab: Vocabulary) -> bool:
    if isinstance(indexer, ExportedEncoderIndexer):
        return indexer.knows(word)
    if not isinstance(indexer, SingleIdTokenIndexer):
        return True
    if indexer.namespace is None or indexer._feature_name != "text":
        return True
    entries = vocab.get_token_to_index_vocabulary(indexer.namespace)
    return (word.lower() if indexer.lowercase_tokens else word) in entries
