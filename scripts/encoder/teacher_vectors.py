"""Make the vectors that `train_sentence_encoder.py` learns from, of a BERT in a folder.

    python -m scripts.encoder.teacher_vectors TEACHER SENTENCES VECTORS PIECES VOCABULARY

encodes each line of SENTENCES as sentence-transformers does with all-MiniLM-L6-v2: the mean over
all word pieces, scaled to length 1 (VECTORS, .npy, float16). PIECES (.npy) has the vector of each
word piece alone, and VOCABULARY (a text file) the word pieces in the same order.

On processors with AMX or AVX512-BF16, products are rounded to bfloat16, which is several times
faster there; on STS-B's sentences the vectors' cosines with those in float32 are above 0.9999.
Vectors are saved after each 20,000 sentences; the same command continues from there.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy
import torch
from tokenizers import Tokenizer
from tqdm import trange
from transformers import BertModel

BLOCK = 20_000
MAX_LENGTH = 128
WORD_PIECES_A_BATCH = 1600

Array = numpy.ndarray[Any, Any]


def fast_products() -> torch.autocast:
    """Return a context whose products are rounded to bfloat16 on a processor that multiplies it."""
    known = torch.cpu.get_capabilities()
    is_fast = known.get("amx_bf16", False) or known.get("avx512_bf16", False)
    return torch.autocast("cpu", torch.bfloat16, enabled=is_fast)


class Teacher:
    """A BERT in a folder with a `tokenizer.json`; its vectors are means over word pieces."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_LENGTH)
        self.model: Any = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()

    @torch.inference_mode()
    def encode_rows(self, rows: list[list[int]]) -> Array:
        """Return the vectors (N, E) of N lists of word pieces."""
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        vectors = numpy.empty((len(rows), self.model.config.hidden_size), numpy.float16)
        while order:
            size = max(1, WORD_PIECES_A_BATCH // len(rows[order[-1]]))
            batch, order = order[-size:], order[:-size]
            tensors = [torch.tensor(rows[i]) for i in batch]
            indices = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)  # (B, T)
            mask = (
                torch.arange(indices.size(1)) < torch.tensor([[len(t)] for t in tensors])
            ).float()
            with fast_products():
                states = self.model(indices, mask).last_hidden_state.float()  # (B, T, E)
            means = torch.einsum("bte,bt->be", states, mask / mask.sum(1, keepdim=True))
            vectors[batch] = torch.nn.functional.normalize(means).half().numpy()
        return vectors

    def encode(self, sentences: list[str]) -> Array:
        """Return the vectors (N, E) of N sentences."""
        return self.encode_rows([found.ids for found in self.tokenizer.encode_batch(sentences)])

    def piece_vectors(self, pieces: list[str]) -> Array:
        """Return the vectors (V, E) of single word pieces."""
        first, *rest = self.tokenizer.encode("").ids
        return self.encode_rows([[first, index, *rest] for index in range(len(pieces))])


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("teacher", "sentences", "vectors", "pieces", "vocabulary"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    teacher = Teacher(options.teacher)
    known = teacher.tokenizer.get_vocab()
    pieces = sorted(known, key=known.__getitem__)
    options.vocabulary.write_text("".join(f"{piece}\n" for piece in pieces), "utf-8")
    numpy.save(options.pieces, teacher.piece_vectors(pieces))
    sentences = options.sentences.read_text("utf-8").split("\n")[:-1]
    blocks = []
    for start in trange(0, len(sentences), BLOCK, desc="blocks of sentences"):
        file = options.vectors.with_suffix(f".{start}.npy")
        if not file.exists():
            vectors = teacher.encode(sentences[start : start + BLOCK])
            numpy.save(file.with_suffix(".new.npy"), vectors)
            file.with_suffix(".new.npy").rename(file)
        blocks.append(file)
    numpy.save(options.vectors, numpy.concatenate([numpy.load(file) for file in blocks]))
    for file in blocks:
        file.unlink()


if __name__ == "__main__":
    main()
