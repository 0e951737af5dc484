"""Tests of encoding in independent blocks: the bytes are those of encoding in one go."""

import random

import numpy
import pytest

from allennlp_sentmatch.corpus import encode_corpus
from allennlp_sentmatch.corpus.sentence_blocks import SentenceBlocks
from allennlp_sentmatch.corpus.sharded_encoding import ShardedEncoding
from allennlp_sentmatch.data.files.digests import sentences_digest

WORDS = ["a", "bb", "ccc", "dddd", "eeeee"]
SENTENCES = [" ".join(WORDS[: 1 + i % 5]) + f" {i % 13}" for i in range(40)]
SENTENCES += ["", "a 0", "", *SENTENCES[7:20], "the last"]


class PositionEncoder:
    """Encodes a sentence as its length and its position in the list, so that the list matters."""

    vector_size = 2

    def __init__(self):
        self.encoded = []

    def encode(self, sentences, batch_size=128, show_progress=True):
        assert not show_progress
        self.encoded.extend(sentences)
        rows = [[len(sentence), position] for position, sentence in enumerate(sentences)]
        return numpy.array(rows, dtype=numpy.float32).reshape(-1, 2)


@pytest.fixture
def work(tmp_path):
    (tmp_path / "s.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    (tmp_path / "folder").mkdir()
    blocks = SentenceBlocks.of_file(tmp_path / "s.txt", 7, tmp_path / "copy")
    return ShardedEncoding(blocks, tmp_path / "folder", sentences_digest(SENTENCES).hexdigest())


def in_any_order(work):
    return random.Random(0).sample(range(len(work.blocks)), len(work.blocks))


def write_shards(work, encoder):
    for block in in_any_order(work):
        work.write_digests(block)
    work.find_first_rows()
    for block in in_any_order(work):
        work.write_shard(block, encoder, batch_size=3)


def test_the_bytes_of_encoding_in_one_go(work, tmp_path):
    encoder = PositionEncoder()
    write_shards(work, encoder)
    work.vectors_file(encoder.vector_size).create()
    for block in in_any_order(work):
        work.merge(block, encoder.vector_size)
    assert sorted(encoder.encoded) == sorted(set(SENTENCES))
    encode_corpus(
        PositionEncoder(), lambda: iter(SENTENCES), tmp_path / "v.npy", 3, 7, show_progress=False
    )
    assert work.vectors_file(2).path.read_bytes() == (tmp_path / "v.npy").read_bytes()


def test_first_rows(work):
    write_shards(work, PositionEncoder())
    expected = [SENTENCES.index(sentence) for sentence in SENTENCES]
    assert numpy.load(work.first_rows_file).tolist() == expected


def test_an_empty_corpus(tmp_path):
    (tmp_path / "s.txt").write_text("")
    blocks = SentenceBlocks.of_file(tmp_path / "s.txt", 7, tmp_path / "c")
    work = ShardedEncoding(blocks, tmp_path, sentences_digest([]).hexdigest())
    write_shards(work, PositionEncoder())
    work.vectors_file(2).create()
    assert numpy.load(work.vectors_file(2).path).shape == (0, 2)


def test_a_step_can_be_taken_again(work):
    write_shards(work, PositionEncoder())
    before = {path.name: path.read_bytes() for path in work.folder.iterdir()}
    write_shards(work, PositionEncoder())
    assert {path.name: path.read_bytes() for path in work.folder.iterdir()} == before
