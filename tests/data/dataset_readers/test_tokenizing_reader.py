from collections import Counter

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.token_indexers import (
    PretrainedTransformerIndexer,
    PretrainedTransformerMismatchedIndexer,
    SingleIdTokenIndexer,
)
from allennlp.data.tokenizers import (
    PretrainedTransformerTokenizer,
    Token,
    WhitespaceTokenizer,
)
from allennlp.nn.util import get_text_field_mask

from allennlp_sentmatch.data.dataset_readers import (
    AnswerSelectionReader,
    ParallelTextReader,
    SentencePairReader,
    SentimentTreesReader,
    SingleSentenceReader,
)


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize(
    ("reader", "file", "id_count"),
    [
        (SentencePairReader("multinli"), "multinli.jsonl", 6),
        (AnswerSelectionReader("wikiqa"), "wikiqa.tsv", 3),
    ],
)
def test_batches_from_worker_processes(fixtures, reader, file, id_count, num_workers):
    loader = MultiProcessDataLoader(
        reader, fixtures / "data" / file, batch_size=2, num_workers=num_workers
    )
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    batches = list(loader)
    ids = Counter(metadata["id"] for batch in batches for metadata in batch["metadata"])
    assert len(ids) == id_count
    assert set(ids.values()) == {1}
    for batch in batches:
        for field in batch.values():
            if isinstance(field, dict):
                tokens = field["tokens"]["tokens"]
                assert tokens.dtype == torch.int64
                assert tokens.any()


@pytest.mark.parametrize(
    ("reader", "arguments", "name"),
    [
        (SentencePairReader("snli"), ("a @@PADDING@@ b", "c"), "premise"),
        (
            SentencePairReader("snli", tokenizer=WhitespaceTokenizer()),
            ("a @@PADDING@@ b", "c"),
            "premise",
        ),
        (SentimentTreesReader(), (["a", "@@PADDING@@", "b"],), "tokens"),
        (SingleSentenceReader("trec"), ("a @@PADDING@@ b",), "tokens"),
        (AnswerSelectionReader("wikiqa"), ("a @@PADDING@@ b", ["c"]), "question"),
        (
            ParallelTextReader(WhitespaceTokenizer()),
            ("a @@PADDING@@ b", "c"),
            "source_tokens",
        ),
    ],
)
def test_the_word_padding_is_a_word(reader, arguments, name):
    instance = reader.text_to_instance(*arguments)
    assert [token.text for token in instance[name]] == ["a", "@@UNKNOWN@@", "b"]
    reader.apply_token_indexers(instance)
    batch = Batch([instance])
    batch.index_instances(Vocabulary.from_instances([instance]))
    tensors = batch.as_tensor_dict()[name]
    assert get_text_field_mask(tensors).tolist() == [[True, True, True]]


def test_a_transformer_reads_a_text_without_words_as_its_unknown_token(tiny_bert):
    indexers = {"pieces": PretrainedTransformerMismatchedIndexer(tiny_bert)}
    reader = SentencePairReader("snli", token_indexers=indexers)
    instance = reader.text_to_instance("", "a @@PADDING@@")
    reader.apply_token_indexers(instance)
    batch = Batch([instance])
    batch.index_instances(Vocabulary.empty())
    tensors = batch.as_tensor_dict()
    unknown, start, end, a = 1, 2, 3, 5
    assert tensors["premise"]["pieces"]["token_ids"].tolist() == [[start, unknown, end]]
    assert tensors["hypothesis"]["pieces"]["token_ids"].tolist() == [[start, a, unknown, end]]
    assert tensors["premise"]["pieces"]["mask"].tolist() == [[True]]


def test_the_unknown_token_beside_a_vocabulary_is_that_of_the_vocabulary(tiny_bert):
    transformer = PretrainedTransformerMismatchedIndexer(tiny_bert)
    indexers = {"tokens": SingleIdTokenIndexer(), "pieces": transformer}
    reader = SentencePairReader("snli", token_indexers=indexers)
    assert [token.text for token in reader.text_to_instance("", "a")["premise"]] == ["@@UNKNOWN@@"]


def test_a_token_with_a_number_of_its_own_is_kept():
    class NumberingTokenizer(WhitespaceTokenizer):
        def tokenize(self, text):
            return [Token(word, text_id=7) for word in text.split()]

    reader = SentencePairReader("snli", tokenizer=NumberingTokenizer())
    tokens = reader.text_to_instance("@@PADDING@@", "a")["premise"].tokens
    assert [(token.text, token.text_id) for token in tokens] == [("@@PADDING@@", 7)]


@pytest.mark.parametrize(
    ("reader", "arguments", "name"),
    [
        (SentencePairReader("snli"), ("a", "\ud800"), "hypothesis"),
        (SingleSentenceReader("trec"), ("\ud800",), "text"),
        (SentimentTreesReader(), (["a", "\ud800"],), "a token"),
        (AnswerSelectionReader("wikiqa"), ("a", ["\ud800"]), "each of the candidates"),
        (SingleSentenceReader("trec"), ("a", "\ud800"), "the label"),
    ],
)
def test_a_lone_surrogate(reader, arguments, name):
    with pytest.raises(ConfigurationError, match=f"^{name} has the lone surrogate"):
        reader.text_to_instance(*arguments)


def test_numpys_strings():
    text = numpy.array(["a b"])[0]
    reader = SentencePairReader("snli")
    assert [token.text for token in reader.text_to_instance(text, text)["premise"]] == ["a", "b"]


def cuts(caplog):
    return [r.getMessage() for r in caplog.records if "is cut after" in r.getMessage()]


def test_the_first_cut_is_logged_and_no_other(caplog):
    reader = SentencePairReader("snli", tokenizer=WhitespaceTokenizer(), max_length=3)
    reader.text_to_instance("a b c", "d")
    assert cuts(caplog) == []
    reader.text_to_instance("a b c d", "e")
    reader.text_to_instance("f g h i", "j k l m")
    (message,) = cuts(caplog)
    assert message.startswith("a text is cut after 3 tokens (max_length)")
    assert message.endswith("'a b c d'")


def test_a_cut_by_the_tokenizer_of_a_transformer_is_logged(tiny_bert, caplog):
    tokenizer = PretrainedTransformerTokenizer(tiny_bert, max_length=6)
    reader = SingleSentenceReader("trec", tokenizer=tokenizer)
    reader.text_to_instance("a man sleeps \n")  # four word pieces and two special tokens
    assert cuts(caplog) == []
    reader.text_to_instance("a man sleeps here")
    assert len(cuts(caplog)) == 1
    assert "after 6 tokens" in cuts(caplog)[0]


def test_the_cut_of_a_pair_is_logged_once(tiny_bert, caplog):
    reader = SentencePairReader(
        "snli",
        combine_input_fields=True,
        max_length=9,
        tokenizer=PretrainedTransformerTokenizer(tiny_bert),
        token_indexers={"tokens": PretrainedTransformerIndexer(tiny_bert)},
    )
    reader.text_to_instance("a man sleeps", "a dog")
    assert cuts(caplog) == []
    for _ in range(2):
        reader.text_to_instance("a man sleeps", "a dog sleeps")
    assert len(cuts(caplog)) == 1


def test_a_misspelled_setting_is_named():
    params = Params({"type": "sentence_pair", "format": "table", "sentense1": "a"})
    with pytest.raises(ConfigurationError, match=r"setting sentense1; .*sentence1, .*max_inst"):
        DatasetReader.from_params(params)
