"""Encoding a corpus in blocks that are independent of each other, into a file for each."""

import hashlib
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional

import numpy

from allennlp_sentmatch.corpus.sentence_blocks import SentenceBlocks
from allennlp_sentmatch.corpus.vectors_file import VectorsFile
from allennlp_sentmatch.corpus.work_folder import VECTORS
from allennlp_sentmatch.data.files.vectors import save_array
from allennlp_sentmatch.predictors.sentence_encoder import SentenceEncoder

DIGEST_SIZE = 16

IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


class ShardedEncoding(NamedTuple):
    """The steps of encoding a corpus, each but the second for one block at a time, anywhere.

    1. `write_digests`: what tells the sentences of a block apart;
    2. `find_first_rows`: for each sentence of the corpus, its first occurrence;
    3. `write_shard`: the vectors of the sentences that occur first in this block;
    4. `merge`: all vectors of the block, at their place in the output.

    The steps communicate by files in a folder that all machines share. A file is complete or not
    there, and has the same bytes whoever writes it, so that a step can be repeated, elsewhere,
    after any interruption or damage (`is_whole`). The output's bytes are those of `encode_corpus`.
    """

    blocks: SentenceBlocks
    folder: Path
    sentences_digest: str

    def digests_file(self, block: int) -> Path:
        """The file that `write_digests` writes."""
        return self.folder / f"digests-{block:08d}.npy"

    def shard_file(self, block: int) -> Path:
        """The file that `write_shard` writes."""
        return self.folder / f"vectors-{block:08d}.npy"

    @property
    def first_rows_file(self) -> Path:
        """The output of `find_first_rows`: for each sentence, the first row with one like it."""
        return self.folder / "first_rows.npy"

    def vectors_file(self, vector_size: int) -> VectorsFile:
        """The file that `merge` fills."""
        num_sentences = self.blocks.num_sentences
        return VectorsFile(self.folder / VECTORS, num_sentences, vector_size, self.sentences_digest)

    def write_digests(self, block: int) -> None:
        """Write the digests of the block's sentences."""
        digests = b"".join(
            hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).digest()[:DIGEST_SIZE]
            for sentence in self.blocks.read(block)
        )
        save_array(self.digests_file(block), numpy.frombuffer(digests, "u8").reshape(-1, 2))

    def find_first_rows(self) -> None:
        """Compare all digests, which takes about 50 bytes of memory for each sentence."""
        digests = numpy.empty((self.blocks.num_sentences, 2), "u8")
        for block in range(len(self.blocks)):
            rows = self.blocks.rows(block)
            digests[rows.start : rows.stop] = numpy.load(self.digests_file(block))
        # Sorted by digest, equal ones by row.
        order = numpy.lexsort((digests[:, 0], digests[:, 1]))
        digests = digests[order]
        is_first = numpy.ones(len(order), bool)
        is_first[1:] = (digests[1:] != digests[:-1]).any(axis=1)
        first_rows = numpy.empty(len(order), numpy.int64)
        first_rows[order] = order[is_first][is_first.cumsum() - 1]
        save_array(self.first_rows_file, first_rows)

    def write_shard(self, block: int, encoder: SentenceEncoder, batch_size: int) -> None:
        """Encode the sentences of the block that do not occur before."""
        sentences = self.blocks.read(block)
        new = [sentences[position] for position in self._new(block, self._first_rows())]
        save_array(self.shard_file(block), encoder.encode(new, batch_size, show_progress=False))

    def merge(self, block: int, vector_size: int) -> None:
        """Write the vectors of the block to the output."""
        first_rows = self._first_rows()
        rows = self.blocks.rows(block)
        wanted = first_rows[rows.start : rows.stop]
        vectors = numpy.empty((len(rows), vector_size), numpy.float32)
        sources = wanted // self.blocks.block_size
        for source in numpy.unique(sources).tolist():
            new = self._new(source, first_rows)
            shard = numpy.load(self.shard_file(source))
            here = sources == source
            positions = wanted[here] - self.blocks.rows(source).start
            vectors[here] = shard[numpy.searchsorted(new, positions)]
        self.vectors_file(vector_size).write(rows.start, vectors)

    def _first_rows(self) -> IntArray:
        # An empty file cannot be mapped.
        mode: Optional[Literal["r"]] = "r" if self.blocks.num_sentences else None
        first_rows: IntArray = numpy.load(self.first_rows_file, mmap_mode=mode)
        return first_rows

    def _new(self, block: int, first_rows: IntArray) -> IntArray:
        """The positions in a block of the sentences that do not occur before, in their order."""
        rows = self.blocks.rows(block)
        own = numpy.arange(rows.start, rows.stop)
        return numpy.flatnonzero(first_rows[rows.start : rows.stop] == own)
