"""Joined pairs, against the transformers library's own."""

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, WhitespaceTokenizer
from transformers import AutoTokenizer

from allennlp_sentmatch.data.dataset_readers.pair_joiner import PairJoiner

SHORT = "a man sleeps"  # four word pieces
LONG = "the dog is unhappily running in the garden, and a man is here."


@pytest.fixture(params=[True, False], ids=["special tokens", "none"])
def tokenizer(request, tiny_bert):
    return PretrainedTransformerTokenizer(tiny_bert, add_special_tokens=request.param)


@pytest.mark.parametrize(
    "pair",
    [
        (SHORT, LONG),
        (LONG, SHORT),
        (LONG, LONG),
        ("", SHORT),
    ],
)
@pytest.mark.parametrize("max_length", [None, 5, 10, 17])
def test_a_pair_is_that_of_the_transformers_library(tokenizer, tiny_bert, pair, max_length):
    joined = PairJoiner(tokenizer, max_length).join(*pair)
    # If both texts are cut, the library's Rust tokenizers leave the longer one an additional token.
    library = AutoTokenizer.from_pretrained(tiny_bert, use_fast=False)
    truncation = "longest_first" if max_length else False
    expected = library(*pair, truncation=truncation, max_length=max_length)
    assert [token.text_id for token in joined.tokens] == expected["input_ids"]
    assert [token.type_id for token in joined.tokens] == expected["token_type_ids"]
    whole_length = len(library(*pair)["input_ids"])
    assert joined.was_cut == (len(expected["input_ids"]) < whole_length)


def test_the_spans_are_those_of_the_sentences(tokenizer):
    joined = PairJoiner(tokenizer, 9).join("is dog a dog", SHORT)
    texts = [token.text for token in joined.tokens]
    assert texts == ["[CLS]", "is", "dog", "a", "[SEP]", "a", "man", "sleep", "[SEP]"]
    assert joined.spans["premise"] == (1, 4)
    assert joined.spans["hypothesis"] == (5, 8)


def test_by_default_a_pair_is_as_long_as_the_transformer_can_read(tokenizer, monkeypatch):
    assert PairJoiner(tokenizer).max_length is None  # this tokenizer states no maximum
    monkeypatch.setattr(tokenizer.tokenizer, "model_max_length", 7)
    assert len(PairJoiner(tokenizer).join(LONG, LONG).tokens) == 7


def test_other_tokenizers_and_lengths_are_refused(tiny_bert, tokenizer):
    with pytest.raises(ConfigurationError, match=r"tokenizer pretrained_.*; got WhitespaceTok"):
        PairJoiner(WhitespaceTokenizer())
    with pytest.raises(ConfigurationError, match="max_length=9 would cut each sentence alone"):
        PairJoiner(PretrainedTransformerTokenizer(tiny_bert, max_length=9))
    with pytest.raises(ConfigurationError, match="max_length=4: expected at least 5"):
        PairJoiner(tokenizer, 4)
