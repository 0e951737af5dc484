"""Tests of blocks of sentences, against the sentences read one after the other."""

import gzip
import json

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import read_sentences, sentence_blocks
from allennlp_sentmatch.corpus.sentence_blocks import SentenceBlocks

LINES = ["a man", "", "zwei Hündchen\r", " ", "five\tsix", "\u2028 no line end \x85", "seven", "a"]

FILES = {
    "plain": "\n".join(LINES).encode(),
    "with a last line end": ("\n".join(LINES) + "\n").encode(),
    "with empty lines at the end": ("\n".join(LINES) + "\n\n\n").encode(),
    "empty": b"",
    "one line end": b"\n",
    "windows": ("\r\n".join(LINES) + "\r\n").encode(),
    "with a mark": b"\xef\xbb\xbf" + "\n".join(LINES).encode(),
    "wide": "\n".join(LINES).encode("utf-16"),
    "compressed": gzip.compress("\n".join(LINES).encode()),
}


def written(folder, content):
    path = folder / "sentences.txt"
    path.write_bytes(content)
    return path


def all_of(blocks):
    return [blocks.read(block) for block in range(len(blocks))]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("block_size", [1, 3, 4, 8, 100])
@pytest.mark.parametrize("chunk_size", [5, 1000])
def test_the_blocks_are_the_sentences(tmp_path, monkeypatch, name, block_size, chunk_size):
    monkeypatch.setattr(sentence_blocks, "CHUNK_SIZE", chunk_size)
    path = written(tmp_path, FILES[name])
    expected = list(read_sentences(path))
    blocks = SentenceBlocks.of_file(path, block_size, tmp_path / "copy")
    assert blocks.num_sentences == len(expected)
    starts = range(0, len(expected), block_size)
    assert all_of(blocks) == [expected[start : start + block_size] for start in starts]
    assert [list(blocks.rows(block)) for block in range(len(blocks))] == [
        list(range(len(expected)))[start : start + block_size] for start in starts
    ]


def test_a_text_file_is_not_copied(tmp_path):
    SentenceBlocks.of_file(written(tmp_path, FILES["plain"]), 2, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_the_cells_of_a_table(tmp_path):
    sentences = ["one", "two\nlines", 'a "quote", and so on', "vier: ü"]
    cells = ['"' + sentence.replace('"', '""') + '"' for sentence in sentences]
    path = written(tmp_path, ("id,text\n" + "".join(f"1,{cell}\n" for cell in cells)).encode())
    blocks = SentenceBlocks.of_file(path, 3, tmp_path / "copy", "text")
    assert all_of(blocks) == [sentences[:3], sentences[3:]]
    path.write_text("".join(json.dumps({"text": sentence}) + "\n" for sentence in sentences))
    blocks = SentenceBlocks.of_file(path, 3, tmp_path / "copy of json", "text")
    assert all_of(blocks) == [sentences[:3], sentences[3:]]


def test_a_copy_that_was_left_is_not_read(tmp_path):
    path = written(tmp_path, FILES["compressed"])
    (tmp_path / "copy").write_text('"another"\n')
    assert all_of(SentenceBlocks.of_file(path, 100, tmp_path / "copy")) == [
        list(read_sentences(path))
    ]


def test_another_encoding_is_named_with_its_line(tmp_path):
    path = written(tmp_path, b"one\ntwo\nthree\nf\xfcnf\n")
    blocks = SentenceBlocks.of_file(path, 3, tmp_path / "copy")
    assert blocks.read(0) == ["one", "two", "three"]
    with pytest.raises(ConfigurationError, match=r"sentences\.txt, line 4.*not utf-8"):
        blocks.read(1)


def test_a_file_that_changes_meanwhile(tmp_path):
    path = written(tmp_path, b"one\ntwo\nthree\n")
    blocks = SentenceBlocks.of_file(path, 2, tmp_path / "copy")
    path.write_bytes(b"one\ntw\n\nthree\n")
    with pytest.raises(ConfigurationError, match=r"sentences\.txt was changed while"):
        blocks.read(0)
