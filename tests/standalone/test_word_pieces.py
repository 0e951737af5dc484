"""Word pieces equal those of BERT's own tokenizer, but for the marks of typeset text."""

import shutil

import pytest
import torch
from transformers import BertTokenizer

from allennlp_sentmatch.files.digested_header import read_header, write_header
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.encoder_files import SETTINGS
from allennlp_sentmatch.standalone.text_indexer import TextIndexer, padded
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "naive",
    "dog",
    "##s",
    "un",
    "##aff",
    "##able",
    "!",
    "-",
    "[",
    "]",
    "pad",
    "日",
    "x",
    "##y",
    "cafe",
    "##\u0301",
    "'",
    "s",
    "?",
]
TEXTS = [
    "Naïve dogs!",
    "unaffable un-affable",
    "[PAD] [MASK]",
    "日x日",
    "x\x00y",
    "CAFÉ's dogs?!",
    "",
    " \t\n ",
    "dog" * 40,
    "x\ufffdy",
    "dogs\u3000dog",
    "🙂 dog",
    "cafe\u0301",
    "İx",
]


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_those_of_transformers_own_python_tokenizer(tmp_path, text):
    file = tmp_path / "vocab.txt"
    file.write_text("".join(f"{piece}\n" for piece in PIECES), "utf-8")
    theirs = BertTokenizer(str(file)).basic_tokenizer.tokenize(text)
    whole = BertTokenizer(str(file)).wordpiece_tokenizer
    expected = [piece for word in theirs for piece in whole.tokenize(word)]
    assert WordPieceSplitter(PIECES).words(text) == expected


def test_halves_of_surrogate_pairs_are_left_out():
    assert WordPieceSplitter(PIECES).words("\ud800 do\udfffgs") == ["dog", "##s"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Dog\u2019s \u2018dog\u2019 \u201cdog\u201d", "Dog's 'dog' \"dog\""),
        ("un\u2011dog dog\u2010s \u2013 \u2212x", "un-dog dog-s - -x"),
        ("dogs\u2014dog\u2026", "dogs - dog..."),
        ("una\ufb00able", "unaffable"),
    ],
)
def test_typeset_marks_are_those_of_a_keyboard(text, plain):
    splitter = WordPieceSplitter([*PIECES, '"', "."], plain_marks=True)
    words = splitter.words(plain)
    assert splitter.words(text) == words
    assert "[UNK]" not in words
    assert WordPieceSplitter(PIECES).words(text) != words


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (["[PAD]", "dog"], r"there is no '\[UNK\]'"),
        (["[UNK]", "\ud800"], "not valid Unicode"),
    ],
)
def test_wrong_vocabularies(pieces, message):
    with pytest.raises(ValueError, match=message):
        WordPieceSplitter(pieces)


@pytest.mark.parametrize("plain_marks", [False, True])
def test_an_encoder_of_word_pieces_is_saved_and_loaded(tmp_path, plain_marks):
    known = {piece: index for index, piece in enumerate(PIECES)}
    indexer = TextIndexer(
        WordPieceSplitter(PIECES, plain_marks),
        known,
        unknown=1,
        empty=2,
        max_length=4,
    )
    network = {"type": "pass_through", "input_size": 3}
    settings = {
        "type": "pooled",
        "encoder": network,
        "pooling": "mean",
    }
    encoder = StandaloneEncoder(indexer, PIECES, 3, settings).eval()
    encoder.save(tmp_path)
    loaded = StandaloneEncoder.load(tmp_path)
    vectors = loaded(padded(loaded.indexer.rows(["unaffable dogs", "", "[PAD]"])))
    rows = encoder.embedding.weight
    expected = [rows[[8, 9, 10, 6]].mean(0), rows[2], rows[[13, 15, 14]].mean(0)]
    torch.testing.assert_close(vectors, torch.stack(expected))
    settings = {"type": "word_pieces", "plain_marks": True}
    if not plain_marks:
        del settings["plain_marks"]  # archives have a digest without it
    assert loaded.indexer.splitter.settings() == settings


def test_settings_of_word_pieces_in_a_folder(tmp_path):
    folder = shutil.copytree(SENTENCE_ENCODER, tmp_path / "folder")
    header = read_header(folder / SETTINGS)
    splitter = folder / "splitter.json"
    splitter.write_text('{"type": "word_pieces"}')  # as before there was a setting
    write_header(folder / SETTINGS, header, ["splitter.json"])
    indexer = StandaloneEncoder.load(folder).indexer
    assert indexer.indices("\u201cdog\u201d") != indexer.indices('"dog"')
    splitter.write_text('{"type": "word_pieces", "plain_marks": "yes"}')
    write_header(folder / SETTINGS, header, ["splitter.json"])
    with pytest.raises(ValueError, match=r"splitter\.json: plain_marks must be true or false"):
        StandaloneEncoder.load(folder)
