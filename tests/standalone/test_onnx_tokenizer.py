"""`tokenizer.json` gives any text the indices of the encoder."""

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from allennlp_sentmatch.standalone.onnx_tokenizer import tokenizer_of
from allennlp_sentmatch.standalone.splitters import LettersDigitsSplitter, WhitespaceSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter
from tests.standalone.test_word_pieces import PIECES, TEXTS

WORDS = ["@@PADDING@@", "@@UNKNOWN@@", "a", "dog", "runs", "2", "!", "héros", "."]
EMPTY = 8

SPLITTERS = {
    "word pieces": (WordPieceSplitter(PIECES), PIECES, {}),
    "plain marks": (WordPieceSplitter(PIECES, plain_marks=True), PIECES, {}),
    "at most 2": (WordPieceSplitter(PIECES), PIECES, {"max_length": 2}),
    "whitespace": (WhitespaceSplitter(), WORDS, {}),
    "lower case": (LettersDigitsSplitter(), WORDS, {"lowercase": True}),
    "whitespace in lower case": (WhitespaceSplitter(), WORDS, {"lowercase": True}),
    "an empty word with capitals": (
        WhitespaceSplitter(),
        [*WORDS[:EMPTY], "@@EMPTY@@", *WORDS[EMPTY + 1 :]],
        {"lowercase": True},
    ),
}


def check_indices(name, texts, folder=None):
    splitter, words, settings = SPLITTERS[name]
    known = {word: index for index, word in enumerate(words)}
    indexer = TextIndexer(splitter, known, unknown=1, empty=EMPTY, **settings)
    tokenizer = tokenizer_of(indexer, words)
    if folder is not None:
        tokenizer.save(str(folder / "tokenizer.json"))
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    encodings = tokenizer.encode_batch(texts)
    assert len({len(encoding.ids) for encoding in encodings}) == 1
    for text, encoding in zip(texts, encodings):
        if settings.get("lowercase") and "İ" in text:
            continue
        indices = [index for index in encoding.ids if index] or [EMPTY]
        assert indices == indexer.indices(text), repr(text)


@pytest.mark.parametrize("name", SPLITTERS)
def test_the_file_s_tokenizer_gives_the_encoder_s_indices(name, tmp_path, capfd):
    """Check 20 files, since the order of hash tables varies."""
    texts = ["A dog2!", "HÉROS\x1cruns\x0bx", "dog\x85dog", "[PAD] @@PADDING@@", "½a_٢२³", "."]
    for _ in range(20):
        check_indices(name, [*TEXTS, *texts], tmp_path)
    assert capfd.readouterr().out == ""


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=8))
@pytest.mark.parametrize("name", SPLITTERS)
def test_any_text(name, text):
    check_indices(name, [text])
