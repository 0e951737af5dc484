r"""Make the vectors from which `train_sentence_encoder.py` learns.

    python -m scripts.encoder.teacher_vectors SENTENCES VOCABULARY OUTPUT TEACHER [TEACHER ...]

encodes each line of SENTENCES as sentence-transformers does with all-mpnet-base-v2 and
all-MiniLM-L6-v2: the mean over all word pieces, scaled to length 1. The vectors of several teachers
are concatenated, so that the cosine is the mean of the teachers' cosines. They are then reduced to
`--size` dimensions, the directions with most of the length of the first sentences' vectors, in
order of importance. Cosines hardly change. OUTPUT/vectors.npy (float16) has a row for each
sentence, and OUTPUT/pieces.npy a row for each single word piece, a line of VOCABULARY.

On a GPU, and on processors with AMX or AVX512-BF16, products are rounded to bfloat16. The vectors
are saved after each block, in a folder named after the digest of the sentences and the teachers;
the same command continues from there.
"""

import argparse
import shutil
import time
from operator import methodcaller
from pathlib import Path
from typing import Any, Callable

import numpy
import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import AutoModel

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.files.digests import files_digest, is_whole, sentences_digest
from allennlp_sentmatch.files.vectors import save_array

BLOCK = 100_000
MAX_LENGTH = 128


def fast_products(device: str = "cpu") -> torch.autocast:
    """Return a context that rounds products to bfloat16 if the device multiplies it fast."""
    known = torch.cpu.get_capabilities() if device == "cpu" else {"amx_bf16": True}
    is_fast = known.get("amx_bf16", False) or known.get("avx512_bf16", False)
    return torch.autocast(device, torch.bfloat16, enabled=is_fast)


class Teacher:
    """A transformer in a folder with a `tokenizer.json`; its vectors are means of states."""

    def __init__(self, folder: Path, device: str) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_LENGTH)
        model: Any = AutoModel.from_pretrained(folder)
        self.model = model.eval().to(device)
        self.device = device
        self.pieces_a_batch = 1600 if device == "cpu" else 60_000

    @torch.inference_mode()
    def encode_rows(self, rows: list[list[int]]) -> Tensor:
        """Return the vectors (N, E) of N lists of word pieces."""
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        vectors = torch.empty(len(rows), self.model.config.hidden_size, device=self.device)
        while order:
            size = max(1, self.pieces_a_batch // len(rows[order[-1]]))
            batch = order[-size:]
            order = order[:-size]
            lengths = torch.tensor([len(rows[i]) for i in batch])
            indices = torch.full((len(batch), int(lengths.max())), self.model.config.pad_token_id)
            steps = torch.arange(indices.size(1)) < lengths[:, None]  # (B, T)
            indices[steps] = torch.tensor([index for i in batch for index in rows[i]])
            mask = steps.to(self.device).float()
            with fast_products(self.device):
                states = self.model(indices.to(self.device), mask).last_hidden_state.float()
            means = torch.einsum("bte,bt->be", states, mask / mask.sum(1, keepdim=True))
            vectors[batch] = torch.nn.functional.normalize(means)
        return vectors

    def encode(self, sentences: list[str]) -> Tensor:
        """Return the vectors (N, E) of N sentences."""
        return self.encode_rows([found.ids for found in self.tokenizer.encode_batch(sentences)])

    def piece_vectors(self, pieces: list[str]) -> Tensor:
        """Return the vectors (V, E) of single word pieces."""
        first, *rest = self.tokenizer.encode("").ids
        unknown = self.tokenizer.token_to_id("[UNK]")
        known = [self.tokenizer.token_to_id(piece) for piece in pieces]
        return self.encode_rows([[first, unknown if i is None else i, *rest] for i in known])


def directions(vectors: Tensor, size: int) -> Tensor:
    """Return the directions (E, size) with most of the length of the vectors (N, E)."""
    _, found = torch.linalg.eigh(vectors.double().t() @ vectors.double())
    largest: Tensor = found.flip(1)[:, :size].float()
    return largest


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("sentences", "vocabulary", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("teachers", type=Path, nargs="+")
    parser.add_argument("--size", type=int, default=384)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    teachers = [Teacher(folder, options.device) for folder in options.teachers]
    sentences = options.sentences.read_text("utf-8").split("\n")[:-1]
    made_of = [str(options.size), files_digest(*options.teachers), *sentences]
    folder: Path = options.output / f"blocks.{sentences_digest(made_of).hexdigest()[:16]}"
    start_time = time.monotonic()

    def reduced(encode: Callable[[Teacher], Tensor]) -> Array:
        """Return the vectors (N, size) of all teachers, with the first block's reduction."""
        joined = torch.cat([encode(one) for one in teachers], 1) / len(teachers) ** 0.5
        if not is_whole(folder / "basis.npy"):
            save_array(folder / "basis.npy", directions(joined, options.size).cpu().numpy())
        basis = torch.from_numpy(numpy.load(folder / "basis.npy")).to(options.device)
        numbers: Array = (joined @ basis).half().cpu().numpy()
        return numbers

    blocks = []
    for start in range(0, len(sentences), BLOCK):
        some = sentences[start : start + BLOCK]
        blocks.append(folder / f"vectors.{start}.npy")
        if not is_whole(blocks[-1]):
            save_array(blocks[-1], reduced(methodcaller("encode", some)))
            seconds = time.monotonic() - start_time
            print(f"{start + len(some)} sentences, {seconds:.0f} s", flush=True)
    pieces = options.vocabulary.read_text("utf-8").split("\n")[:-1]
    save_array(options.output / "pieces.npy", reduced(methodcaller("piece_vectors", pieces)))
    # Written last, when all other files exist.
    whole = numpy.concatenate([numpy.load(file) for file in blocks])
    save_array(options.output / "vectors.npy", whole)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
