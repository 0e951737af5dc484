"""A text's indices equal an instance's."""

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer, TokenCharactersIndexer
from allennlp.data.tokenizers import CharacterTokenizer, LettersDigitsTokenizer, WhitespaceTokenizer
from hypothesis import strategies as st

from allennlp_sentmatch.data.dataset_readers import (
    SentencePairReader,
    SentenceVectorsReader,
    SentimentTreesReader,
)
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.encoding.text_indexing import text_indexer
from tests.fuzzing import check_cases, texts

WORDS = ["A", "a", "dog", "is", "n't", "@@padding@@", "@@unknown@@", ".", "it", "1", ")", ":)"]
WORDS += ["word", "é"]
VOCAB = Vocabulary(tokens_to_add={"tokens": WORDS, "labels": ["yes"]})

READERS = [
    SentenceVectorsReader(),
    SentenceVectorsReader(
        max_length=3, token_indexers={"words": SingleIdTokenIndexer(lowercase_tokens=True)}
    ),
    SentenceVectorsReader(tokenizer=WhitespaceTokenizer()),
    SentimentTreesReader(tokenizer=LettersDigitsTokenizer()),
    SentencePairReader("snli"),
]


def indices_of_instance(reader, text):
    others = ["a"] if isinstance(reader, SentencePairReader) else []
    instance = reader.text_to_instance(text, *others)
    reader.apply_token_indexers(instance)
    batch = Batch([instance])
    batch.index_instances(VOCAB)
    (indexed,) = next(iter(batch.as_tensor_dict().values())).values()
    return indexed["tokens"][0].tolist()


@pytest.mark.parametrize("reader", READERS)
def test_any_text(reader):
    indexer = text_indexer(reader, VOCAB)

    def check(text):
        if not any("\ud800" <= character <= "\udfff" for character in text):
            assert indexer.indices(text) == indices_of_instance(reader, text)

    check_cases(check, st.one_of(texts, st.lists(st.sampled_from(WORDS)).map(" ".join)), 40)


CHARACTERS = TokenCharactersIndexer(min_padding_length=1)


def tokenized(*arguments, **settings):
    return SentenceVectorsReader(tokenizer=SpacyBlankTokenizer(*arguments, **settings))


def indexed(*indexers):
    return SentenceVectorsReader(token_indexers=dict(zip("ab", indexers)))


class OtherReader(SentenceVectorsReader):
    """A reader from another package, which may do anything with a text."""


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (OtherReader(), "the reader is a OtherReader, not one of allennlp_sentmatch"),
        (SentenceVectorsReader(tokenizer=CharacterTokenizer()), "not a CharacterTokenizer"),
        (tokenized(start_tokens=["<s>"]), "spacy_blank has start_tokens or end_tokens"),
        (tokenized("zh"), "splits the language 'zh' with ChineseTokenizer"),
        (indexed(SingleIdTokenIndexer(), CHARACTERS), "not SingleIdTokenIndexer, TokenCharac"),
        (indexed(SingleIdTokenIndexer(namespace="labels")), "'labels' has no padding and no unkn"),
        (indexed(SingleIdTokenIndexer(end_tokens=["</s>"])), "must not have start_tokens, end_t"),
        (indexed(SingleIdTokenIndexer(feature_name="lemma_")), "must index the words' text"),
    ],
)
def test_others_need_instances(reader, message):
    with pytest.raises(ConfigurationError, match=message):
        text_indexer(reader, VOCAB)
