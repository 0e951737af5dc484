"""Words that are not in a model's vocabulary."""

from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.data import Instance, TokenIndexer, Vocabulary
from allennlp.data.fields import Field, ListField, TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer


def unknown_words(instance: Instance, vocab: Vocabulary) -> list[str]:
    """The words of an instance that a model reads as the unknown word.

    # Parameters

    instance : `Instance`
        With token indexers. Its text fields are searched, also those in lists. Indexers other than
        "single_id" know every word.
    vocab : `Vocabulary`

    # Returns

    `list[str]`
        In their order, each once.
    """
    words = [
        str(token.text)
        for field in _text_fields(instance.fields.values())
        for token in field.tokens
        if not all(
            _knows(indexer, str(token.text), vocab)
            for indexer in (field._token_indexers or {}).values()
        )
    ]
    return list(dict.fromkeys(words))


def _knows(indexer: TokenIndexer, word: str, vocab: Vocabulary) -> bool:
    if not isinstance(indexer, SingleIdTokenIndexer):
        return True
    if indexer.namespace is None or indexer._feature_name != "text":
        return True
    entries = vocab.get_token_to_index_vocabulary(indexer.namespace)
    return (word.lower() if indexer.lowercase_tokens else word) in entries


def _text_fields(fields: Iterable[Field[Any]]) -> Iterator[TextField]:
    for field in fields:
        if isinstance(field, TextField):
            yield field
        elif isinstance(field, ListField):
            yield from _text_fields(field)
